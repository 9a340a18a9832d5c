def register(params)
  @percentage = params["percentage"]
  @field = params.fetch("field", "x")
end

def filter(event)
  n = event.get(@field)
  return [] if n.nil?
  event.set("half", n * @percentage)
  copy = event.clone
  copy.set("copy", true)
  [event, copy]
end

test "halves" do
  parameters { { "percentage" => 0.5 } }
  in_event { { "x" => 10 } }
  expect("two events") { |events| events.size == 2 }
  expect("half") do |events|
    events.first.get("half") == 5.0 && events[1].get("copy")
  end
end

test "without the field" do
  parameters { { "percentage" => 0.5 } }
  in_event { { "y" => 10 } }
  expect("nothing") { |events| events.empty? }
end
