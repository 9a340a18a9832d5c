# Writes the results of expressions beside them: `jruby record.rb FILE`, with a line of code each,
# prints the cases. Times are those of UTC: set TZ=UTC.
%w[set time date json base64 digest bigdecimal bigdecimal/util ostruct zlib uri cgi ipaddr securerandom openssl].each do |library|
  require library
end
$stderr = File.open(File::NULL, 'w')

File.readlines(ARGV.fetch(0), chomp: true).each do |code|
  next if code.empty? || code.start_with?('  ')
  result = begin
    Class.new.new.instance_eval("-> {\n#{code}\n}").call.inspect
  rescue Exception => e
    "! #{e.message.lines.first.to_s.chomp}"
  end
  puts code, "  => #{result.b.force_encoding('UTF-8').scrub.gsub("\n", ' ')}"
end
