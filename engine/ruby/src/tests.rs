//! What code evaluates to, and the messages for unknown names.

mod battery;
mod bounds;
mod compared;
mod fuzz;
mod rows;

use super::{Limits, Machine, Memory, Script};
use chrono::{DateTime, Utc};
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::{Datum, Map};
use temblor_logstash_event::event::LogEvent;

fn run(code: &str) -> String {
    run_within(code, Limits::default())
}

/// With values freed as often as possible.
fn run_collecting(code: &str) -> String {
    run_as(code, Limits::default(), true)
}

fn run_within(code: &str, limits: Limits) -> String {
    run_as(code, limits, false)
}

fn run_as(code: &str, limits: Limits, collects: bool) -> String {
    let script = match Script::parse(code, &[]) {
        Ok(script) => script,
        Err(problem) => return format!("{}: {}", problem.at, problem.message),
    };
    let arena = Arena::new();
    let now = DateTime::<Utc>::from_timestamp(1_700_000_000, 123_456_789).expect("it is a time");
    let mut data = Map::default();
    data.insert("message", Datum::Str("a,b,,c"));
    data.insert("n", Datum::Int(7));
    data.insert("list", Datum::List(vec![Datum::Int(3), Datum::Null, Datum::Int(1)]));
    let mut nested = Map::default();
    nested.insert("x", Datum::Str("1.5"));
    data.insert("h", Datum::Map(nested));
    let mut memory = Memory::bounded(limits);
    let mut machine = Machine::new(LogEvent::new(data, now), &mut memory, &arena, now);
    if collects {
        machine.collect_always();
    } else {
        machine.collect_while_running();
    }
    match machine.run(&script) {
        Ok(value) => value.inspect(machine.heap()),
        Err(stop) => format!("! {}", stop.message()),
    }
}

fn gives(cases: &[(&str, &str)]) {
    all_give(cases, run);
    all_give(cases, run_collecting);
}

fn all_give(cases: &[(&str, &str)], run: impl Fn(&str) -> String) {
    let mut wrong = Vec::new();
    for (code, expected) in cases {
        let found = run(code);
        if found != *expected {
            wrong.push(format!("{code}\n    gives {found}\n    not   {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn values_and_operators() {
    gives(&[
        ("1 + 2 * 3", "7"),
        ("-7 / 2", "-4"),
        ("-7 % 3", "2"),
        ("7.0 / 2", "3.5"),
        ("2 ** 10", "1024"),
        ("2 ** -1", "(1/2)"),
        ("10.fdiv(4)", "2.5"),
        ("1 <=> 2", "-1"),
        ("!true || nil", "nil"),
        ("not true", "false"),
        ("nil || 5", "5"),
        ("1 == 1.0", "true"),
        ("'a' + \"b#{1 + 1}\\n\"", "\"ab2\\n\""),
        ("'a' 'b'", "\"ab\""),
        ("%w[a b].join('-')", "\"a-b\""),
        ("\"%05.2f|%-5s|%x\" % [3.14159, 'ab', 255]", "\"03.14|ab   |ff\""),
        ("format('%03d', 7)", "\"007\""),
        ("x = 5; x += 1; x", "6"),
        ("a, b = 1, 2; [b, a]", "[2, 1]"),
        ("a, *b = [1, 2, 3]; b", "[2, 3]"),
        ("h = {}; h['a'] ||= 0; h['a'] += 2; h", "{\"a\"=>2}"),
        ("{ a: 1, 'b' => 2, :c => 3 }", "{:a=>1, \"b\"=>2, :c=>3}"),
        ("(1..4).to_a", "[1, 2, 3, 4]"),
        ("(1...4).map { |i| i * i }", "[1, 4, 9]"),
        ("1_000 + 0x10", "1016"),
        ("5.between?(1, 10)", "true"),
        ("3.7.round", "4"),
        ("3.14159.round(2)", "3.14"),
        ("1234.round(-2)", "1200"),
        ("255.to_s(16)", "\"ff\""),
        ("10.divmod(3)", "[3, 1]"),
        ("9223372036854775807 + 1", "9223372036854775808"),
        ("1 / 0", "! divided by 0"),
        ("1 + nil", "! nil can't be coerced into Integer"),
        ("'a' + 1", "! no implicit conversion of Integer into String"),
        ("nil.upcase", "! undefined method `upcase' for nil:NilClass"),
        ("nil&.upcase", "nil"),
        ("[1, [2, [3]]].flatten", "[1, 2, 3]"),
        ("true ? 'x' : 'y'", "\"x\""),
        ("n = 3; n > 2 ? :big : :small", ":big"),
        ("?a", "\"a\""),
        ("defined?(zz)", "nil"),
    ]);
}

/// Compared with JRuby 9.4.
#[test]
fn odd_corners() {
    gives(&[
        ("[1, 2, 3] & [2]", "[2]"),
        ("~5", "-6"),
        ("case when 1 > 2 then 'a' else 'b' end", "\"b\""),
        ("[0.1, 0.2, 0.3].sum", "0.6"),
        ("[1, 2, 4].chunk_while { |a, b| b == a + 1 }.to_a", "[[1, 2], [4]]"),
        ("[1, 2, 3].combination(2).to_a", "[[1, 2], [1, 3], [2, 3]]"),
        ("[1, 2].product([3])", "[[1, 3], [2, 3]]"),
        ("h = Hash.new { |hash, k| hash[k] = [] }; h['a'] << 1; h", "{\"a\"=>[1]}"),
        ("Hash[*%w[a 1]]", "{\"a\"=>\"1\"}"),
        ("Array(1..3)", "[1, 2, 3]"),
        ("/(?<kk>\\w),/ =~ 'a,b'; kk", "\"a\""),
        ("'hello'.sub(/(?<a>h)/, '<\\k<a>>')", "\"<h>ello\""),
        ("'a'.sub!('b', 'c')", "nil"),
        ("'abc'.concat('d')", "\"abcd\""),
        ("'abc'.insert(9, 'd')", "! index 9 out of string"),
        ("1.eql?(1.0)", "false"),
        ("4.lcm(6)", "12"),
        ("'%+.1e|%c|% d|%x' % [12345.678, 65, 5, 255]", "\"+1.2e+04|A| 5|ff\""),
        ("1e16.to_s + ' ' + 1e19.to_s", "\"10000000000000000.0 1.0e+19\""),
        (
            "Time.at(0).utc.strftime('%-d.%-m.%Y %k|%j|%^a|%3N|%10Y|%e|%p|%#p')",
            "\"1.1.1970  0|001|THU|000|0000001970| 1|AM|am\"",
        ),
        ("Regexp.new('A', Regexp::IGNORECASE).match?('a')", "true"),
        ("logger.info('x')", "nil"),
        (
            "event.set('@timestamp', '2020-01-01T00:00:00Z')",
            "! wrong argument type String (expected LogStash::Timestamp)",
        ),
    ]);
}

#[test]
fn statements() {
    gives(&[
        ("if 1 > 2 then 'a' elsif 2 > 1\n 'b' else 'c' end", "\"b\""),
        ("x = 1 unless false; x", "1"),
        ("x = if true\n 1\nelse\n 2\nend\nx", "1"),
        ("case 5 when 1..3 then 'low' when 4..6 then 'mid' else 'high' end", "\"mid\""),
        ("case 'abc' when /b/ then 1 end", "1"),
        ("case 1.5 when Integer then 'i' when Float, String then 'f' end", "\"f\""),
        ("case\nwhen false then 1\nwhen true\n 2\nend", "2"),
        ("i = 0; i += 1 while i < 5; i", "5"),
        ("i = 0\nuntil i >= 3 do\n i += 1\nend\ni", "3"),
        ("i = 0; begin; i += 1; end while i < 3; i", "3"),
        ("s = 0; for i in 1..3 do s += i end; s", "6"),
        ("begin; raise 'x'; rescue => e; e.message; end", "\"x\""),
        ("begin; Integer('z'); rescue ArgumentError, TypeError; 0; end", "0"),
        ("begin; 1; ensure; 2; end", "1"),
        ("x = Integer('z') rescue -1; x", "-1"),
        ("raise ArgumentError, 'no'", "! no"),
        ("raise ArgumentError.new('no')", "! no"),
        ("[1, 2, 3].each { |x| break x * 10 if x == 2 }", "20"),
        ("[1, 2, 3].map { |x| next 0 if x == 2; x }", "[1, 0, 3]"),
        ("return 5 if true\n6", "5"),
        ("def twice(x)\n x * 2\nend\ntwice(4)", "8"),
        ("f = ->(x, y = 2) { x + y }; f.call(1) + f.(1)", "6"),
        ("f = lambda { |x| x + 1 }; [1, 2].map(&f)", "[2, 3]"),
        ("x = 1; [5].each { |y| x += y }; x", "6"),
        ("x = 10; [1].each { |x| x }; x", "10"),
        ("3.times.map { |i| i }", "[0, 1, 2]"),
        ("# a comment\n1 # another\n", "1"),
        ("'a'\n  .upcase\n  .downcase", "\"a\""),
        ("[1,\n 2,\n].size", "2"),
        ("loop do break 7 end", "7"),
        ("x = [3, 1, 2].sort do |a, b| b <=> a end\nx", "[3, 2, 1]"),
        ("while true do end", "! the code ran more than 2000000 steps"),
        ("def f(x) f(x) end; f(1)", "! stack level too deep"),
        ("puts 'x'; 1", "1"),
        ("1 if true and not false", "1"),
    ]);
}

#[test]
fn texts_and_patterns() {
    gives(&[
        ("'a,b,,c,,'.split(',')", "[\"a\", \"b\", \"\", \"c\"]"),
        ("'a,b,c'.split(',', 2)", "[\"a\", \"b,c\"]"),
        ("'a,b,,'.split(',', -1)", "[\"a\", \"b\", \"\", \"\"]"),
        ("' a  b '.split", "[\"a\", \"b\"]"),
        ("'a1b22c'.split(/\\d+/)", "[\"a\", \"b\", \"c\"]"),
        ("'abc'.split('')", "[\"a\", \"b\", \"c\"]"),
        ("'hello'.gsub('l', 'L')", "\"heLLo\""),
        ("'hello'.gsub(/l(.)/, '<\\1>')", "\"he<l>o\""),
        ("'hello'.gsub(/[el]/) { |c| c.upcase }", "\"hELLo\""),
        ("'hello'.gsub(/[el]/, 'e' => '3', 'l' => '1')", "\"h311o\""),
        ("'hello'.sub(/l/, '')", "\"helo\""),
        ("'a.b'.gsub('.', '-')", "\"a-b\""),
        ("x = 'a'; x << 'b'; x", "\"ab\""),
        ("x = 'ab'; x.gsub!('z', 'y')", "nil"),
        ("x = 'ab'; x.gsub!('a', 'y'); x", "\"yb\""),
        ("'k=v' =~ /=/", "1"),
        ("'k=v' =~ /(\\w)=(\\w)/; $2 + $1", "\"vk\""),
        ("'x' !~ /y/", "true"),
        (
            "m = 'a-1'.match(/(?<l>\\w)-(?<d>\\d)/); [m[:l], m['d'], m[0]]",
            "[\"a\", \"1\", \"a-1\"]",
        ),
        ("'abc'.match?(/B/i)", "true"),
        ("'a1b2'.scan(/[a-z]\\d/)", "[\"a1\", \"b2\"]"),
        ("'a1b2'.scan(/([a-z])(\\d)/)", "[[\"a\", \"1\"], [\"b\", \"2\"]]"),
        ("'hello'[1..3] + 'hello'[-1] + 'hello'[0, 2]", "\"ellohe\""),
        ("'hello'[/l+/]", "\"ll\""),
        ("'hello'[10]", "nil"),
        ("'Hello World'.tr('lo', '01')", "\"He001 W1r0d\""),
        ("'a-b_c'.delete('-_')", "\"abc\""),
        ("'aabb'.squeeze", "\"ab\""),
        ("'12abc'.to_i + '0x1f'.hex + '1.5e2x'.to_f", "193.0"),
        ("'ff'.to_i(16)", "255"),
        ("'abc'.start_with?('x', 'a') && 'abc'.end_with?('c')", "true"),
        ("' x '.strip.empty?", "false"),
        ("'5'.rjust(3, '0')", "\"005\""),
        ("'Ab'.swapcase + 'ab'.capitalize + 'ab'.reverse", "\"aBAbba\""),
        ("'az'.succ", "\"ba\""),
        ("'ab'.bytes.map { |b| b.to_s(16) }.join", "\"6162\""),
        ("'ab'.unpack('H*')", "[\"6162\"]"),
        ("'a' * 3 + 'b'.ord.to_s + 99.chr", "\"aaa98c\""),
        ("\"a\\nb\".lines.map(&:chomp)", "[\"a\", \"b\"]"),
        ("'a=1'.partition('=')", "[\"a\", \"=\", \"1\"]"),
        ("%q(it's) + %Q(#{1})", "\"it's1\""),
        ("'x'.to_sym", ":x"),
        ("r = 'l+'; 'hello' =~ /#{r}o/", "2"),
        ("'a/b' =~ /a\\/b/", "0"),
        ("Regexp.escape('a.b')", "\"a\\\\.b\""),
        ("'x'.frozen?", "false"),
    ]);
}

#[test]
fn lists_and_hashes() {
    gives(&[
        ("[3, 1, 2].sort.reverse.first(2)", "[3, 2]"),
        ("[1, 2, 3, 4].select(&:even?)", "[2, 4]"),
        ("[1, nil, 2].compact.sum", "3"),
        ("[1, 2, 2].uniq.size", "2"),
        ("[1, 2, 3].inject(:+) + [1, 2].reduce(10) { |a, b| a + b }", "19"),
        ("%w[a b].zip([1, 2]).to_h", "{\"a\"=>1, \"b\"=>2}"),
        ("Hash[%w[a b].zip([1, 2])]", "{\"a\"=>1, \"b\"=>2}"),
        ("%w[a b].each_with_index.map { |x, i| \"#{x}#{i}\" }", "[\"a0\", \"b1\"]"),
        ("%w[a b].map.with_index(1) { |x, i| [i, x] }", "[[1, \"a\"], [2, \"b\"]]"),
        ("r = []; %w[a b].each_with_index { |x, i| r << i }; r", "[0, 1]"),
        ("[1, 2, 3, 4].partition { |x| x > 2 }", "[[3, 4], [1, 2]]"),
        ("%w[aa b].group_by { |x| x.length }", "{2=>[\"aa\"], 1=>[\"b\"]}"),
        ("%w[aa b].max_by(&:length)", "\"aa\""),
        ("[[1, 'a'], [2, 'b']].map { |n, s| s * n }", "[\"a\", \"bb\"]"),
        ("{ 'a' => 1 }.map { |k, v| [k, v + 1] }.to_h", "{\"a\"=>2}"),
        ("{ 'a' => 1, 'b' => nil }.reject { |k, v| v.nil? }", "{\"a\"=>1}"),
        ("{ 'a' => 1 }.merge('b' => 2) { |k, o, n| o + n }", "{\"a\"=>1, \"b\"=>2}"),
        ("{ 'a' => 1 }.merge({ 'a' => 2 }) { |k, o, n| o + n }", "{\"a\"=>3}"),
        ("h = { 'b' => 1, 'a' => 2 }; h.sort.to_h", "{\"a\"=>2, \"b\"=>1}"),
        ("h = { 'b' => 2, 'a' => 1 }; h.sort_by { |k, v| v }.first", "[\"a\", 1]"),
        ("h = { 'a' => 1 }; h.delete('a'); h.empty?", "true"),
        ("h = { 'a' => { 'b' => 1 } }; h.dig('a', 'b')", "1"),
        ("h = Hash.new(0); 'aab'.each_char { |c| h[c] += 1 }; h", "{\"a\"=>2, \"b\"=>1}"),
        ("{ 'a' => 1 }.key?('a') && { 'a' => 1 }.values.include?(1)", "true"),
        ("{ a: 1 }.transform_values { |v| v * 2 }", "{:a=>2}"),
        ("{ 'a' => 1 }.each_with_object({}) { |(k, v), m| m[v] = k }", "{1=>\"a\"}"),
        ("[1, 2, 3].each_slice(2).to_a", "[[1, 2], [3]]"),
        ("[5, 3].min + [5, 3].max + [1, 2][-1] + ([1, 2] - [1]).length", "11"),
        ("a = [1]; a.push(2).unshift(0); a.pop; a.shift; a", "[1]"),
        ("a = [1, 2]; a.map! { |x| x * 2 }; a", "[2, 4]"),
        ("[1, 2] & [2, 3] | [9]", "[2, 9]"),
        ("[1, 2, 3].any? { |x| x > 2 } && [1].all?(Integer)", "true"),
        ("[1, 2, 3].find { |x| x > 1 }", "2"),
        ("[3, 4].index(4)", "1"),
        ("[1, 2].include? 2", "true"),
        ("['a', 1, nil].join(',')", "\"a,1,\""),
        ("[1, 2, 3][0..1] + [1, 2, 3][1..-1]", "[1, 2, 2, 3]"),
        ("x = { 'a' => 1 }; x.each { |k, v| x = k }; x", "\"a\""),
        ("Array(nil) + Array(1) + Array([2])", "[1, 2]"),
        ("['b', 'a'].sort!.first", "\"a\""),
        ("[0.1, 0.2].sum.round(2)", "0.3"),
        ("a = [1]; a << a; a.to_s.length > 0", "true"),
    ]);
}

#[test]
fn events_times_and_modules() {
    gives(&[
        ("event.get('n') * 2", "14"),
        ("event.get('[h][x]').to_f + 1", "2.5"),
        (
            "event.set('y', event.get('message').split(',').reject(&:empty?)); event.get('y')",
            "[\"a\", \"b\", \"c\"]",
        ),
        ("event.get('list').compact.sort", "[1, 3]"),
        ("event.set('[q][r]', 1); event.get('q')", "{\"r\"=>1}"),
        ("event.remove('n'); event.include?('n')", "false"),
        (
            "event.to_hash.keys",
            "[\"message\", \"n\", \"list\", \"h\", \"@timestamp\", \"@version\"]",
        ),
        (
            "event.to_hash.each { |k, v| event.remove(k) if v.is_a?(Array) }; event.get('list')",
            "nil",
        ),
        ("event.tag('a'); event.tag('a'); event.get('tags')", "[\"a\"]"),
        ("event.cancel; event.cancelled?", "true"),
        ("event.sprintf('%{n}-%{+YYYY}')", "\"7-2023\""),
        ("event.get('@timestamp').to_s", "\"2023-11-14T22:13:20.123456789Z\""),
        ("event.get('@timestamp').to_i", "1700000000"),
        (
            "event.timestamp.time.strftime('%Y-%m-%dT%H:%M:%S.%L%z')",
            "\"2023-11-14T22:13:20.123+0000\"",
        ),
        ("Time.at(0).utc.iso8601", "\"1970-01-01T00:00:00Z\""),
        ("Time.now.to_i - Time.at(1699999990).to_i", "10"),
        ("(Time.now - Time.at(1699999990)).round(1)", "10.1"),
        ("Time.parse('2020-01-02T03:04:05Z').year", "2020"),
        ("Time.strptime('02/01/2020', '%d/%m/%Y').month", "1"),
        ("(Time.parse('2020-01-02T00:00:00Z') + 3600).hour", "1"),
        ("JSON.parse('{\"a\": [1, 2.5, null]}')['a'].last.nil?", "true"),
        ("JSON.parse('{') rescue 'bad'", "\"bad\""),
        ("{ 'a' => [1, nil, 'x\"'] }.to_json", "\"{\\\"a\\\":[1,null,\\\"x\\\\\\\"\\\"]}\""),
        ("require 'digest'; Digest::MD5.hexdigest('a')", "\"0cc175b9c0f1b6a831c399e269772661\""),
        ("require 'base64'\nBase64.strict_encode64('hi') + Base64.decode64('aGk=')", "\"aGk=hi\""),
        ("Math.sqrt(16).to_i + Math.log10(100)", "6.0"),
        ("e = LogStash::Event.new('a' => 1); e.set('b', 2); e.get('a') + e.get('b')", "3"),
        ("URI.decode_www_form_component('a%20b+c')", "\"a b c\""),
        ("event.set('@timestamp', LogStash::Timestamp.at(0)); event.get('@timestamp').to_i", "0"),
        ("event.set('t', Time.at(0)); event.get('t').class", "LogStash::Timestamp"),
        ("event.set('[n][x]', 1)", "! a value that is no map stands in the way"),
        ("event.get('message').respond_to?(:each)", "false"),
        ("@x ||= 0; @x += 1; @x", "1"),
    ]);
}

#[test]
fn lambdas_share_the_variables_of_the_call_that_made_them() {
    gives(&[
        ("n = 0; add = ->(x) { n += x }; add.(2); [1, 2].each { |x| add.(x) }; n", "5"),
        (
            "out = {}; walk = lambda { |p, o| o.is_a?(Hash) ? o.each { |k, v| walk.call(p + k, v) } \
             : out[p] = o }; walk.call('', { 'a' => { 'b' => 1 }, 'c' => 2 }); out",
            "{\"ab\"=>1, \"c\"=>2}",
        ),
        ("def twice(f) f.call + f.call end; n = 1; twice(-> { n += 1 })", "5"),
        ("def f(n) n = 5; -> { n } end; n = 1; f(2).call + n", "6"),
        ("fact = ->(n) { n < 2 ? 1 : n * fact.(n - 1) }; fact.(5)", "120"),
    ]);
}

#[test]
fn texts_between_lines() {
    gives(&[
        ("x = <<~END\n  a\n    b #{1 + 1}\n\n  c\nEND\nx", "\"a\\n  b 2\\n\\nc\\n\""),
        ("x = [<<-A, <<'B'].join\n a\n  A\nb#{1}\nB\nx", "\" a\\nb\\#{1}\\n\""),
        ("x = <<~E.strip.upcase\n  a\nE\nx + '!'", "\"A!\""),
        ("x = [1]; x << 2; x <<3", "[1, 2, 3]"),
        ("=begin\nnothing\n=end\n1", "1"),
        ("x = <<~END\n  a", "10: this text is never closed"),
    ]);
}

#[test]
fn addresses() {
    gives(&[
        ("IPAddr.new('192.168.1.77').to_i", "3232235853"),
        ("IPAddr.new('10.0.0.0/8').include?('10.1.2.3')", "true"),
        ("IPAddr.new('10.0.0.0/8').include?(IPAddr.new('11.1.2.3'))", "false"),
        ("IPAddr.new('10.0.0.0/8') === 'no address'", "false"),
        ("IPAddr.new('10.1.2.3/255.255.0.0').to_s", "\"10.1.0.0\""),
        ("IPAddr.new('10.1.2.3/16').to_range.last.to_s", "\"10.1.255.255\""),
        ("IPAddr.new('10.1.2.0/24').inspect", "\"#<IPAddr: IPv4:10.1.2.0/255.255.255.0>\""),
        ("IPAddr.new('2001:db8::1').to_string", "\"2001:0db8:0000:0000:0000:0000:0000:0001\""),
        ("IPAddr.new('192.0.2.1').reverse", "\"1.2.0.192.in-addr.arpa\""),
        ("IPAddr.new(16909060, Socket::AF_INET).to_s", "\"1.2.3.4\""),
        ("case '10.0.0.1' when IPAddr.new('10.0.0.0/8') then 1 end", "1"),
        ("IPAddr.new('x')", "! invalid address: x"),
        ("begin; IPAddr.new('x'); rescue IPAddr::InvalidAddressError; 1; end", "1"),
        ("begin; IPAddr.new('x'); rescue IPAddr::Error; 2; end", "2"),
        (
            "begin; IPAddr.new('x/99'); rescue ArgumentError => e; e.class; end",
            "IPAddr::InvalidAddressError",
        ),
        ("[IPAddr.new('::1').loopback?, IPAddr.new('10.0.0.1').private?]", "[true, true]"),
    ]);
}

#[test]
fn days_and_moments() {
    gives(&[
        ("Date.parse('2020-01-02 03:04').to_s", "\"2020-01-02\""),
        ("(Date.new(2020, 3, 1) - Date.new(2020, 2, 1)).to_i", "29"),
        (
            "((DateTime.parse('2020-01-02T12:00:00') - DateTime.parse('2020-01-01')) * 24).to_i",
            "36",
        ),
        (
            "DateTime.parse('2020-01-02T03:04:05+02:00').new_offset(0).to_s",
            "\"2020-01-02T01:04:05+00:00\"",
        ),
        ("DateTime.parse('2020-01-02T03:04:05').iso8601", "\"2020-01-02T03:04:05+00:00\""),
        ("(Date.new(2020, 1, 31) >> 1).to_s + Date.new(2020, 2, -1).day.to_s", "\"2020-02-2929\""),
        ("(Date.new(2020, 1, 1) + 1).next_day(2).prev_month.to_s", "\"2019-12-04\""),
        ("[Date.valid_date?(2021, 2, 29), Date.leap?(2020)]", "[false, true]"),
        (
            "[Date.today.is_a?(Date), DateTime.now.is_a?(Date), Time.now.is_a?(Date)]",
            "[true, true, false]",
        ),
        ("event.set('t', DateTime.parse('2020-01-02').to_time); event.get('t').to_i", "1577923200"),
        (
            "Time.parse('2020-01-02 00:00:00 UTC') - Time.parse('2020-01-01 00:00:00 UTC')",
            "86400.0",
        ),
        ("Time.rfc2822('Thu, 02 Jan 2020 03:04:05 +0000').to_i", "1577934245"),
    ]);
}

#[test]
fn what_modules_compute() {
    gives(&[
        ("CSV.parse_line('a,\"b,c\",,\"d\"\"e\"')", "[\"a\", \"b,c\", nil, \"d\\\"e\"]"),
        ("CSV.parse(\"a;b\\nc;d\", col_sep: ';')", "[[\"a\", \"b\"], [\"c\", \"d\"]]"),
        ("begin; CSV.parse_line('\"x'); rescue CSV::MalformedCSVError; 'bad'; end", "\"bad\""),
        (
            "[File.basename('/a/b.log', '.log'), File.extname('b.tar.gz'), File.dirname('/a/b')]",
            "[\"b\", \".gz\", \"/a\"]",
        ),
        ("File.basename(nil)", "! no implicit conversion of nil into String"),
        ("Zlib.crc32('hello')", "907060870"),
        ("OpenSSL::HMAC.hexdigest(OpenSSL::Digest.new('md5'), 'k', 'v')[0, 8]", "\"03b6c958\""),
        ("OpenSSL::Digest::SHA1.hexdigest('x')[0, 8]", "\"11f6ad8e\""),
        (
            "u = URI.parse('https://u:p@h.example/a/b?x=1#f'); [u.host, u.port, u.userinfo, u.path, u.query, u.fragment]",
            "[\"h.example\", 443, \"u:p\", \"/a/b\", \"x=1\", \"f\"]",
        ),
        ("begin; URI.parse('a b'); rescue URI::InvalidURIError; 'bad'; end", "\"bad\""),
        ("CGI.parse('a=1&a=2&b=x+y')", "{\"a\"=>[\"1\", \"2\"], \"b\"=>[\"x y\"]}"),
        ("SecureRandom.hex(3).length + SecureRandom.alphanumeric(5).length", "11"),
        ("['616263'].pack('H*') + ['hi'].pack('m0') + [97, 98].pack('C*')", "\"abcaGk=ab\""),
        ("\"\\x01\\x02abc\".unpack('nA2') + 'ab'.unpack('?') rescue 'not known'", "\"not known\""),
        ("\"\\x01\\x02abc\".unpack('nA2') + 'aGk='.unpack('m')", "[258, \"ab\", \"hi\"]"),
    ]);
}

#[test]
fn more_ways_to_assign() {
    gives(&[
        ("a, (b, *c), d = 1, [2, 3, 4], 5; [a, b, c, d]", "[1, 2, [3, 4], 5]"),
        ("a, *b = [1, 2, 3]; b", "[2, 3]"),
        ("s = 'abc'; s[0] = 'z'; s[-1] = '!'; s['b'] = 'BB'; s", "\"zBB!\""),
        ("s = 'a'; s << 'b' << 'c'; s", "\"abc\""),
        ("def self.f(x) x + 1 end; f(1)", "2"),
        ("LIMIT = 5 unless defined?(LIMIT); LIMIT", "5"),
        ("'123456789012345678901234567890'.to_i > 1", "true"),
        ("nil & true", "false"),
        ("$stderr.puts 'x'; \"\\101\\x41\"", "\"AA\""),
    ]);
}

#[test]
fn what_is_not_known_is_named() {
    gives(&[
        ("event.set('a', event.frobnicate)", "15: the method `frobnicate` is not known here"),
        (
            "x = \u{201c}a\u{201d}",
            "4: the function or variable `\u{201c}a\u{201d}` is not known here",
        ),
        ("foo(1)", "0: the function or variable `foo` is not known here"),
        ("Dir.glob('x')", "0: the class or module `Dir` is not known here"),
        ("`ls`", "0: commands of the shell are not run"),
        ("x = (1", "6: `)` is missing"),
        ("'abc", "4: this text is never closed"),
        ("if true", "7: `end` is missing"),
        ("Set.new([1]).flatten", "! the method `flatten` of Set is not known here"),
        ("[[1, 2], [3, 4]].assoc(3)", "[3, 4]"),
        (
            "begin; 'a'.unicode_normalize; rescue; 1; end",
            "7: the method `unicode_normalize` is not known here",
        ),
        ("class << self; end", "0: `class << self` is not known here; `def self.name` is"),
        ("redo", "0: `redo` is not known here"),
        ("event.gett('x')", "0: the method `gett` is not known here; `get` is"),
    ]);
}
