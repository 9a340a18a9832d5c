//! Every declared method runs: for at least one of many arguments it gives a value, or an
//! exception other than "undefined method".

use super::run;

/// Values of all classes with methods of their own, as code.
pub(super) const RECEIVERS: &[&str] = &[
    "'b1 a2'",
    ":b",
    "7",
    "2.5",
    "(10**20)",
    "3r",
    "BigDecimal('1.5')",
    "[3, 1, 2]",
    "[[1, 2], [3, 4]]",
    "{ 'a' => 1 }",
    "(1..3)",
    "('a'..'c')",
    "Set.new([1])",
    "Time.at(0)",
    "Date.new(2020, 1, 1)",
    "/b/",
    "'ab'.match(/(?<x>b)/)",
    "->(*a) { 1 }",
    "event",
    "IPAddr.new('10.0.0.1')",
    "ArgumentError.new('x')",
    "nil",
    "true",
];
/// Arguments of which some fit any method.
pub(super) const ARGUMENTS: &[&str] = &[
    "1",
    "'b'",
    ":b",
    "[1]",
    "{ 'a' => 'b' }",
    "/b/",
    "1..2",
    "Set.new([1])",
    "Time.at(0)",
    "2.5",
    "'[n]'",
    "'a2'",
    "'C*'",
    "'utf-8'",
    "'%Y'",
    "LogStash::Event.new",
    "IPAddr.new('10.0.0.0/8')",
    "Integer",
    ":to_s",
];

/// Whether a call was answered by a method.
fn is_answered(call: &str) -> bool {
    let result = run(call);
    let refused = result.split_once(": ").is_some_and(|(at, _)| at.parse::<usize>().is_ok());
    let is_miscounted = result.contains("wrong number of arguments");
    !refused
        && !is_miscounted
        && !result.contains("undefined method")
        && !result.contains("is not known here")
}

fn lists(count: usize) -> Vec<String> {
    match count {
        0 => vec![String::new()],
        1 => ARGUMENTS.iter().map(|one| (*one).to_string()).collect(),
        2 => {
            let pair = |one: &&str| {
                ARGUMENTS.iter().map(move |two| format!("{one}, {two}")).collect::<Vec<_>>()
            };
            let times = "Time.at(0), Time.at(0)".to_string();
            ARGUMENTS.iter().take(6).flat_map(pair).chain([times]).collect()
        }
        more => vec![vec!["1"; more].join(", ")],
    }
}

#[test]
fn each_method_that_is_declared_runs() {
    let (mut missing, mut declared) = (Vec::new(), 0);
    for receiver in RECEIVERS {
        let names = run(&format!("{receiver}.methods"));
        for name in names.trim_matches(['[', ']']).split(", ") {
            declared += 1;
            let name = name.trim_start_matches(':').trim_matches('"');
            let counts = [0, 1, 2].into_iter().flat_map(lists);
            let mut calls = counts.flat_map(|list| {
                let comma = if list.is_empty() { "" } else { ", " };
                let plain = format!("({receiver}).send(:\"{name}\"{comma}{list})");
                [format!("{plain} {{ |*x| 1 }}"), plain]
            });
            if !calls.any(|call| is_answered(&call)) {
                missing.push(format!("{receiver}.{name}"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(declared > 1_500, "only {declared} were tried");
}

#[test]
fn what_derives_from_the_declarations() {
    super::gives(&[
        ("'a'.respond_to?(:upcase) && !'a'.respond_to?(:each) && [].respond_to?(:each)", "true"),
        ("1.respond_to?(:even?) && !1.5.respond_to?(:even?) && 1.5.respond_to?(:nan?)", "true"),
        ("Date.new(2020).respond_to?(:leap?) && !Time.at(0).respond_to?(:leap?)", "true"),
        ("1.respond_to?(:to_s) && nil.respond_to?(:nil?) && !nil.respond_to?(:empty?)", "true"),
        (
            "class A; attr_reader :x; def y; end; end; [A.new.respond_to?(:x), A.new.respond_to?(:y), A.new.respond_to?(:z)]",
            "[true, true, false]",
        ),
        ("{}.methods.include?(:fetch_values)", "true"),
        ("'a'.upcase(1, 2, 3)", "! wrong number of arguments (given 3, expected 0..1)"),
        ("[].first(1, 2)", "! wrong number of arguments (given 2, expected 0..1)"),
        ("{}.fetch", "! wrong number of arguments (given 0, expected 1..2)"),
        ("[1].upcase", "! undefined method `upcase' for [1]:Array"),
        ("begin; 5.each { |x| x }; rescue NoMethodError; 'none'; end", "\"none\""),
        ("Set.new([1]).flatten", "! the method `flatten` of Set is not known here"),
    ]);
}
