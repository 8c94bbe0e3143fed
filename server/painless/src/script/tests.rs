//! What scripts make of documents: each expectation follows from what Painless' and Java's documentation say.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;

fn object(value: Json) -> Map<String, Json> {
    value.as_object().cloned().unwrap_or_default()
}

/// Runs a script over a document, and returns what it makes of `ctx`.
fn run(script: &str, source: &Json, params: &Json) -> Result<Map<String, Json>, ScriptError> {
    let ctx = json!({"_source": source, "op": "index", "_id": "1", "_index": "i"});
    let script = Script::compile(script)?;
    script.run(&object(ctx), &object(params.clone()), 1_700_000_000_000)
}

fn check(script: &str, source: Json, params: Json, wanted: Json) {
    let made = run(script, &source, &params);
    let made = made.unwrap_or_else(|error| panic!("{script}: {error:?}"));
    // The text tells 1 from 1.0.
    assert_eq!(made["_source"].to_string(), wanted.to_string(), "{script}");
}

/// Checks the value of an expression.
fn value(expression: &str, wanted: Json) {
    check(
        &format!("ctx._source.v = {expression}"),
        json!({}),
        json!({}),
        json!({"v": wanted}),
    );
}

fn fails(script: &str, source: Json, kind: &str, reason: &str) {
    let error = run(script, &source, &json!({"n": 1, "s": "x"})).expect_err(script);
    let told = (error.phase(), error.kind(), error.reason());
    assert!(
        (error.phase() == kind || error.kind() == kind) && error.reason().contains(reason),
        "{script}: {told:?}"
    );
}

#[test]
fn scripts_of_tutorials_change_documents() {
    let tags = || json!({"tags": ["red", "blue"], "counter": 1});
    let params = || json!({"count": 4, "tag": "green", "old": "blue", "obj": {"a": 1}});
    for (script, wanted) in [
        (
            "ctx._source.counter += params.count",
            json!({"tags": ["red", "blue"], "counter": 5}),
        ),
        (
            "ctx._source.counter++",
            json!({"tags": ["red", "blue"], "counter": 2}),
        ),
        (
            "ctx._source['counter'] -= 3;",
            json!({"tags": ["red", "blue"], "counter": -2}),
        ),
        (
            "ctx._source.tags.add(params.tag)",
            json!({"tags": ["red", "blue", "green"], "counter": 1}),
        ),
        (
            "if (ctx._source.tags.contains(params.old)) { ctx._source.tags.remove(ctx._source.tags.indexOf(params.old)) }",
            json!({"tags": ["red"], "counter": 1}),
        ),
        (
            "ctx._source.new_field = 'value_of_new_field'",
            json!({"tags": ["red", "blue"], "counter": 1, "new_field": "value_of_new_field"}),
        ),
        (
            "ctx._source.remove('counter')",
            json!({"tags": ["red", "blue"]}),
        ),
        (
            "if (!ctx._source.containsKey('x')) { ctx._source.x = params.obj.a }",
            json!({"tags": ["red", "blue"], "counter": 1, "x": 1}),
        ),
        (
            "if (ctx._source.views == null) { ctx._source.views = 1 } else { ctx._source.views += 1 }",
            json!({"tags": ["red", "blue"], "counter": 1, "views": 1}),
        ),
        (
            "ctx._source.tags.removeIf(t -> t == params.old)",
            json!({"tags": ["red"], "counter": 1}),
        ),
        (
            "ctx._source.tags = ctx._source.tags.stream().distinct().sorted().collect(Collectors.toList())",
            json!({"tags": ["blue", "red"], "counter": 1}),
        ),
        (
            "def old = ctx._source.remove('tags'); ctx._source.labels = old;",
            json!({"counter": 1, "labels": ["red", "blue"]}),
        ),
        (
            "for (t in ctx._source.tags) { ctx._source[t] = t.length() }",
            json!({"tags": ["red", "blue"], "counter": 1, "red": 3, "blue": 4}),
        ),
        (
            "for (int i = 0; i < ctx._source.tags.size(); i++) { ctx._source.tags[i] = ctx._source.tags[i].toUpperCase() }",
            json!({"tags": ["RED", "BLUE"], "counter": 1}),
        ),
        (
            "Map m = ['k': [1, 2L, 0.5]]; m.b = true; ctx._source.tags = m",
            json!({"tags": {"k": [1, 2, 0.5], "b": true}, "counter": 1}),
        ),
        (
            "ctx._source.putAll(params.obj); ctx._source.keySet().removeIf(k -> k.startsWith('t'))",
            json!({"counter": 1, "a": 1}),
        ),
        (
            "ctx._source.entrySet().removeIf(e -> e.getValue() instanceof List)",
            json!({"counter": 1}),
        ),
        ("ctx._source = params.obj", json!({"a": 1})),
        (
            "String s = ''; for (def t : ctx._source.tags) { if (t == 'red') continue; s += t + '-'; break; } ctx._source.tags = s",
            json!({"tags": "blue-", "counter": 1}),
        ),
        (
            "int n = 0; do { n += 2; if (n > 5) { return; } ctx._source.counter = n; } while (true)",
            json!({"tags": ["red", "blue"], "counter": 4}),
        ),
        (
            "while (ctx._source.counter < 10) { ctx._source.counter *= 2; }",
            json!({"tags": ["red", "blue"], "counter": 16}),
        ),
        (
            "/* all */ ctx._source.tags.add(0, 'x'); // first\nctx._source.tags.sort((a, b) -> b.compareTo(a))",
            json!({"tags": ["x", "red", "blue"], "counter": 1}),
        ),
        (
            "ctx._source.nested = ctx._source?.a?.b ?: 'none'",
            json!({"tags": ["red", "blue"], "counter": 1, "nested": "none"}),
        ),
        (
            "ctx._source.tags.0 = 'x'; ctx._source.tags[-1] = 'y'",
            json!({"tags": ["x", "y"], "counter": 1}),
        ),
        (
            "def t = ctx._source.tags; t.add('z'); t.addAll(['p', 'q'])",
            json!({"tags": ["red", "blue", "z", "p", "q"], "counter": 1}),
        ),
        (
            "ctx._source.tags = new ArrayList(new HashSet(['a', 'b', 'a']))",
            json!({"tags": ["a", "b"], "counter": 1}),
        ),
    ] {
        check(script, tags(), params(), wanted);
    }
    let ctx = run(
        "if (ctx._source.n > 1) { ctx.op = 'delete' } else { ctx.op = 'none' }",
        &json!({"n": 2}),
        &json!({}),
    );
    assert_eq!(ctx.unwrap()["op"], "delete");
}

#[test]
fn numbers_are_javas() {
    for (expression, wanted) in [
        ("7 / 2", json!(3)),
        ("-7 / 2", json!(-3)),
        ("-7 % 3", json!(-1)),
        ("7 / 2.0", json!(3.5)),
        ("7 / 2L", json!(3)),
        ("1 + 2 * 3 - 4", json!(3)),
        ("2147483647 + 1", json!(-2_147_483_648_i64)),
        ("2147483647 + 1L", json!(2_147_483_648_i64)),
        ("-2147483648 - 1", json!(2_147_483_647)),
        ("9223372036854775807L + 1", json!(i64::MIN)),
        ("3000000000L * 2", json!(6_000_000_000_i64)),
        ("65536 * 65536", json!(0)),
        ("(int) 3.99", json!(3)),
        ("(int) -3.99", json!(-3)),
        ("(int) 3000000000L", json!(-1_294_967_296)),
        ("(int) 1e20", json!(i32::MAX)),
        ("(long) 1e3", json!(1000)),
        ("0.1 + 0.2", json!(0.300_000_000_000_000_04)),
        ("0.1f + 0.2f", json!(0.3)),
        ("0.1f + 0.2", json!(0.300_000_001_490_116_13)),
        ("1 == 1.0", json!(true)),
        ("1 == 1L", json!(true)),
        ("2147483648L > 1.5", json!(true)),
        ("'1' == 1", json!(false)),
        ("null == null", json!(true)),
        ("null == 0", json!(false)),
        ("0x1F", json!(31)),
        ("010", json!(8)),
        ("1e3", json!(1000.0)),
        ("5d", json!(5.0)),
        ("6 & 3 | 8", json!(10)),
        ("1 << 33", json!(2)),
        ("1L << 33", json!(8_589_934_592_i64)),
        ("-8 >> 1", json!(-4)),
        ("-8 >>> 28", json!(15)),
        ("~5", json!(-6)),
        ("!true || 1 < 2 && 3 >= 3", json!(true)),
        ("true ? 1 : 2.5", json!(1.0)),
        ("5.5 % 2", json!(1.5)),
        ("Math.max(1, 2)", json!(2.0)),
        ("Math.round(2.5)", json!(3)),
        ("Math.round(-2.5)", json!(-2)),
        ("Math.floor(-1.5)", json!(-2.0)),
        ("Math.pow(2, 10)", json!(1024.0)),
        ("(int) Math.sqrt(17)", json!(4)),
        ("Math.abs(-3)", json!(3.0)),
        ("Integer.parseInt('42') + 1", json!(43)),
        ("Double.parseDouble('1.5')", json!(1.5)),
        ("Long.parseLong('-3000000000')", json!(-3_000_000_000_i64)),
        ("Integer.MAX_VALUE", json!(i32::MAX)),
        ("[1, 2].contains(1L)", json!(false)),
        ("[1, 2] == [1, 2]", json!(true)),
        ("System.currentTimeMillis()", json!(1_700_000_000_000_i64)),
    ] {
        value(expression, wanted);
    }
}

#[test]
fn variables_of_a_type_hold_values_of_it() {
    for (script, wanted) in [
        ("double d = 3; ctx._source.v = d", json!({"v": 3.0})),
        ("int x = 5; x += 1.7; ctx._source.v = x", json!({"v": 6})),
        (
            "long x = 2147483647; x++; ctx._source.v = x",
            json!({"v": 2_147_483_648_i64}),
        ),
        ("int x; x--; ctx._source.v = x", json!({"v": -1})),
        (
            "def x = 1; def y = x++ + ++x; ctx._source.v = y",
            json!({"v": 4}),
        ),
        (
            "float f = 1; f /= 3; ctx._source.v = f",
            json!({"v": 0.333_333_34}),
        ),
        (
            "int a = 1, b = 2; { int c = a + b; ctx._source.v = c; }",
            json!({"v": 3}),
        ),
    ] {
        check(script, json!({}), json!({}), wanted);
    }
    for (script, reason) in [
        (
            "int x = 1.5",
            "Cannot cast from [java.lang.Double] to [int]",
        ),
        (
            "int x = params.s",
            "Cannot cast from [java.lang.String] to [int]",
        ),
        (
            "int x = 3000000000L",
            "Cannot cast from [java.lang.Long] to [int]",
        ),
        (
            "String s = 1",
            "Cannot cast from [java.lang.Integer] to [java.lang.String]",
        ),
        ("List l = ctx._source", "to [java.util.List]"),
        ("if (params.n) { }", "to [boolean]"),
        ("def x = 'a' - 1", "Cannot apply [-]"),
        ("def x = 'a' < 'b'", "Cannot apply [<]"),
    ] {
        fails(script, json!({}), "class_cast_exception", reason);
    }
}

#[test]
fn texts_are_joined_and_cut_as_in_java() {
    for (expression, wanted) in [
        ("'a' + 1 + 2", json!("a12")),
        ("1 + 2 + 'a'", json!("3a")),
        ("'x' + 1.0 + 2L + null + true", json!("x1.02nulltrue")),
        (
            "'' + 1e7 + ' ' + 1e-4 + ' ' + 12345678.9 + ' ' + 0.001",
            json!("1.0E7 1.0E-4 1.23456789E7 0.001"),
        ),
        (
            "'' + [1, 'a', null] + ['k': 2.5]",
            json!("[1, a, null]{k=2.5}"),
        ),
        ("'héllo😀'.length()", json!(7)),
        ("'hello'.substring(1, 3)", json!("el")),
        ("'hello'.substring(2)", json!("llo")),
        ("'a,b,,c'.splitOnToken(',')", json!(["a", "b", "", "c"])),
        ("'a,b,c'.splitOnToken(',', 2)", json!(["a", "b,c"])),
        (
            "'hello'.indexOf('l') * 10 + 'hello'.lastIndexOf('l')",
            json!(23),
        ),
        ("'b'.compareTo('a') + 'ab'.compareTo('abcd')", json!(-1)),
        ("'a-b-c'.replace('-', '+')", json!("a+b+c")),
        ("' x '.trim() + 'A'.toLowerCase()", json!("xa")),
        ("'it\\'s' + \" \\\"q\\\" \\\\\"", json!("it's \"q\" \\")),
        (
            "String.join('-', ['a', 'b']) + ['c', 'd'].join('+')",
            json!("a-bc+d"),
        ),
        ("String.valueOf(12) + 3.toString()", json!("123")),
        (
            "'A'.equalsIgnoreCase('a') && 'a'.equals('a') && !'abc'.isEmpty()",
            json!(true),
        ),
    ] {
        value(expression, wanted);
    }
}

#[test]
fn lists_and_maps_are_references() {
    for (script, wanted) in [
        (
            "def a = [1]; def b = a; b.add(2); ctx._source.v = a",
            json!({"v": [1, 2]}),
        ),
        (
            "def m = [:]; m.computeIfAbsent('k', k -> []).add(1); m.merge('n', 1, (a, b) -> a + b); m.merge('n', 5, (a, b) -> a + b); ctx._source.v = m",
            json!({"v": {"k": [1], "n": 6}}),
        ),
        (
            "def l = [3, 1, 2]; Collections.sort(l); ctx._source.v = l.subList(1, 3)",
            json!({"v": [2, 3]}),
        ),
        (
            "ctx._source.v = [1, 2, 3, 4].stream().filter(x -> x % 2 == 0).map(x -> { def y = x * 10; return y }).collect(Collectors.toList())",
            json!({"v": [20, 40]}),
        ),
        (
            "ctx._source.v = [1, 2, 3].find(x -> x > 1) + [1, 2].findAll(x -> x > 5).size() + ([1, 2].any(x -> x == 2) ? 10 : 0)",
            json!({"v": 12}),
        ),
        (
            "def m = ['b': 1, 'a': 2]; m.put('c', 3); m.putIfAbsent('a', 9); ctx._source.v = m.getOrDefault('z', 0) + m.size() + m.get('a')",
            json!({"v": 5}),
        ),
        (
            "ctx._source.v = 0; for (e in ['a': 1, 'b': 2].entrySet()) { ctx._source.v += e.value; ctx._source.k = e.getKey() }",
            json!({"v": 3, "k": "b"}),
        ),
        (
            "def l = [1, 2, 3]; l.removeAll([2]); l.remove(0); ctx._source.v = l",
            json!({"v": [3]}),
        ),
        (
            "def l = [['p': 1], ['p': 2]]; for (def o : l) { if (o.p == 2) { o.q = 'x' } } ctx._source.v = l",
            json!({"v": [{"p": 1}, {"p": 2, "q": "x"}]}),
        ),
    ] {
        check(script, json!({}), json!({}), wanted);
    }
}

#[test]
fn streams_find_and_add_up() {
    for (expression, wanted) in [
        (
            "[['n': 1], ['n': 2]].stream().mapToInt(x -> x.n).sum()",
            json!(3),
        ),
        ("[].stream().mapToDouble(x -> x).sum()", json!(0.0)),
        (
            "[0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1].stream().mapToDouble(x -> x).sum()",
            json!(1.0),
        ),
        ("[1, 2].stream().mapToLong(x -> x).sum() / 2", json!(1)),
        (
            "[1, 2, 3].stream().filter(x -> x > 1).findFirst().get()",
            json!(2),
        ),
        (
            "[1].stream().filter(x -> x > 1).findFirst().orElse('none')",
            json!("none"),
        ),
        ("[1].stream().findAny().isPresent()", json!(true)),
    ] {
        value(expression, wanted);
    }
    fails(
        "[].stream().findFirst().get()",
        json!({}),
        "no_such_element_exception",
        "No value",
    );
    fails(
        "ctx._source.v = [1].stream().findFirst()",
        json!({}),
        "illegal_argument_exception",
        "Optional",
    );
}

#[test]
fn numbers_of_documents_keep_their_digits() {
    let source = json!({"a": 18_446_744_073_709_551_615_u64, "b": 1.0, "c": 1e300, "d": -0.5, "e": i64::MIN});
    check(
        "ctx._source.remove('nothing')",
        source.clone(),
        json!({}),
        source,
    );
    fails(
        "ctx._source.a += 1",
        json!({"a": u64::MAX}),
        "class_cast_exception",
        "java.math.BigInteger",
    );
}

#[test]
fn what_is_unknown_is_an_error_at_its_place() {
    for (script, reason) in [
        ("ctx._source.x = ", "a value is expected"),
        ("ctx._source.x = 1 ctx._source.y = 2", "[;] is expected"),
        ("foo = 1", "cannot resolve symbol [foo]"),
        ("doc['x'].value", "[doc]"),
        ("ctx._source.x == 1; ctx._source.y = 1", "not a statement"),
        ("def x = 1; def x = 2", "already defined"),
        ("def x = /a/.matcher('a')", "regular expressions"),
        ("int[] a = new int[2]", "arrays"),
        ("def d = new Date()", "[new Date]"),
        ("try { } catch (Exception e) { }", "[try]"),
        ("def x = 'a\\n'", "escape"),
        ("int f(int x) { return x }", "functions"),
        ("def x = 3000000000", "Invalid int constant"),
        ("Foo.bar()", "[Foo]"),
        ("{ def x = 1; } ctx._source.v = x", "[x]"),
        ("1 = 2", "cannot assign"),
        ("ctx._source.x = 'abc", "does not end"),
        ("if (true { }", "[)] is expected"),
    ] {
        fails(script, json!({}), "compile error", reason);
    }
    for (script, kind, reason) in [
        ("ctx._source.missing += 1", "null_pointer_exception", "[+]"),
        ("ctx._source.a.b = 1", "null_pointer_exception", "[b]"),
        (
            "ctx._source.tags.add('x')",
            "null_pointer_exception",
            "[add]",
        ),
        ("def x = 1 / 0", "arithmetic_exception", "by zero"),
        ("def x = [1][3]", "index_out_of_bounds_exception", "Index 3"),
        (
            "[1].remove(-1)",
            "index_out_of_bounds_exception",
            "Index -1",
        ),
        ("'abc'.foo()", "illegal_argument_exception", "foo/0"),
        ("'abc'.charAt(0)", "illegal_argument_exception", "charAt/1"),
        ("Math.random()", "illegal_argument_exception", "random/0"),
        ("Integer.parseInt('x')", "number_format_exception", "\"x\""),
        (
            "def l = [1, 2, 3]; for (x in l) { l.add(x) }",
            "concurrent_modification_exception",
            "",
        ),
        (
            "def m = ['a': 1, 'b': 2]; for (k in m.keySet()) { m.remove(k) }",
            "concurrent_modification_exception",
            "",
        ),
        (
            "ctx._source.v = 0.0 / 0.0",
            "illegal_argument_exception",
            "NaN",
        ),
        ("for (x in 5) { }", "illegal_argument_exception", "iterate"),
        (
            "[1, 'a'].sort(null); Collections.sort([1, 'a'])",
            "class_cast_exception",
            "cast",
        ),
    ] {
        fails(script, json!({}), kind, reason);
    }
    let error = run(
        "ctx._source.a = 1; ctx._source.counter += params.nothing",
        &json!({"counter": 1}),
        &json!({}),
    );
    let told = error
        .unwrap_err()
        .to_json("ctx._source.a = 1; ctx._source.counter += params.nothing");
    assert_eq!(told["reason"], "runtime error");
    assert_eq!(
        told["position"],
        json!({"offset": 39, "start": 14, "end": 56})
    );
    assert_eq!(
        told["script_stack"][1],
        format!("{}^---- HERE", " ".repeat(29))
    );
}

#[test]
fn what_a_script_may_use_is_bounded() {
    let deep = format!("def x = {}1{}", "(".repeat(500), ")".repeat(500));
    let long = format!("def x = 0{}", " + 1".repeat(10_000));
    let branches = format!(
        "if (false) {{}}{} ctx._source.v = 1",
        " else if (false) {}".repeat(2000)
    );
    let blocks = format!("{}{}", "{".repeat(5000), "}".repeat(5000));
    let calls = format!("ctx._source{}", ".a".repeat(10_000));
    // Functions within functions, each behind a long chain of calls.
    let mut nested = "1".to_owned();
    for _ in 0..12 {
        nested = format!(
            "[1].collect(x{} -> {nested}){}",
            nested.len(),
            ".asList()".repeat(100)
        );
    }
    let nested = format!("def y = {nested}");
    for (script, reason) in [
        ("while (true) { }", "The maximum number of statements"),
        (
            "for (;;) { ctx._source.n = 1 }",
            "The maximum number of statements",
        ),
        ("def s = 'x'; while (true) { s = s + s }", ""),
        ("def l = [1]; while (true) { l.addAll(l) }", ""),
        (
            "def l = []; l.add(l); ctx._source.l = l",
            "self-referencing",
        ),
        ("def l = []; l.add(l); ctx._source.l = '' + l", "too deeply"),
        (
            "def l = []; l.add(l); def m = []; m.add(m); ctx._source.l = l == m",
            "too deeply",
        ),
        (
            "def l = ['x']; for (int i = 0; i < 60; i++) { l = [l, l] } ctx._source.l = l",
            "too large a document",
        ),
        (
            "def s = 'a'; for (int i = 0; i < 20; i++) { s = s.replace('a', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa') }",
            "",
        ),
        (&deep, "deep"),
        (&long, "levels"),
        (&blocks, "deep"),
        (&calls, "levels"),
        (&nested, "nested"),
        (&"x".repeat(70_000), "exceeded max allowed"),
    ] {
        let error = run(script, &json!({}), &json!({})).expect_err("a limit");
        assert!(
            error.reason().contains(reason),
            "{}: {error:?}",
            &script[..script.len().min(60)]
        );
    }
    assert_eq!(
        run(&branches, &json!({}), &json!({})).unwrap()["_source"]["v"],
        1
    );
}

proptest! {
    #[test]
    fn no_text_panics(text in ".{0,80}") {
        let _ = run(&text, &json!({"a": [1, {"b": "c"}], "n": 1}), &json!({"p": 1.5}));
    }

    #[test]
    fn no_sequence_of_tokens_panics(words in proptest::collection::vec(proptest::sample::select(vec![
        "ctx", "._source", ".a", ".n", "params", ".p", " def ", " int ", " x", " y", "=", "+=", "==", "<", "+", "-", "*", "/", "%", "(", ")", "[", "]",
        "{", "}", ";", ":", "?", "?.", "?:", ",", "1", "0", "-1", "2.5", "9L", "'s'", ".add", ".remove", ".size()", ".stream()", "->", "if ", "else ",
        "for ", "in ", "while ", "return ", "&&", "||", "!", "++", "null", "true", "Math.max", ".sort", ".get", ".removeIf", "instanceof ", "List ",
        ">>>", "<<", "~", "new ArrayList()", "[:]", ".keySet()", "break;", "continue;",
    ]), 0..40)) {
        let _ = run(&words.concat(), &json!({"a": [1, {"b": "c"}], "n": 1}), &json!({"p": 1.5}));
    }

    #[test]
    fn whole_numbers_compute_as_those_of_the_machine(a: i32, b: i32, c: i64) {
        let params = json!({"a": a, "b": b, "c": c});
        let ctx = run(
            "ctx._source.v = [params.a + params.b, params.a - params.b, params.a * params.b, params.a < params.b]; long c = params.c; \
             ctx._source.w = [c + params.a, c * params.b, c % 7, c == params.a]",
            &json!({}), &params,
        ).unwrap();
        let (la, lb) = (i64::from(a), i64::from(b));
        prop_assert_eq!(&ctx["_source"]["v"], &json!([a.wrapping_add(b), a.wrapping_sub(b), a.wrapping_mul(b), a < b]));
        prop_assert_eq!(&ctx["_source"]["w"], &json!([c.wrapping_add(la), c.wrapping_mul(lb), c % 7, c == la]));
    }

    #[test]
    fn lists_are_sorted_as_by_the_library(mut list in proptest::collection::vec(-50_i32..50, 0..40)) {
        let ctx = run(
            "ctx._source.up = new ArrayList(params.l); ctx._source.up.sort(null); ctx._source.down = params.l; ctx._source.down.sort((a, b) -> b - a)",
            &json!({}), &json!({"l": list}),
        ).unwrap();
        list.sort_unstable();
        prop_assert_eq!(&ctx["_source"]["up"], &json!(list));
        list.reverse();
        prop_assert_eq!(&ctx["_source"]["down"], &json!(list));
    }

    #[test]
    fn a_document_that_is_not_changed_stays_the_same(a: f64, b: i64, c in ".{0,20}") {
        prop_assume!(a.is_finite());
        let source = json!({"a": a, "b": b, "c": c, "d": [a, [b], {"e": c}], "n": null});
        let ctx = run("def x = ctx._source.a", &source, &json!({})).unwrap();
        prop_assert_eq!(ctx["_source"].to_string(), source.to_string());
    }
}

#[test]
fn conditions_are_scripts_that_return_a_boolean() {
    let ctx = object(json!({"level": "info", "n": 3}));
    let test = |script: &str| {
        let script = Script::compile(script).unwrap();
        script.test(&ctx, &object(json!({"least": 2})), 0)
    };
    for (script, holds) in [
        ("ctx.level == 'info'", true),
        ("ctx.level?.length() > 9 || ctx.none != null", false),
        ("ctx.n >= params.least", true),
        ("if (ctx.n > 1) { return true } return false", true),
        ("def n = ctx.n; n instanceof String", false),
    ] {
        assert_eq!(test(script), Ok(holds), "{script}");
    }
    for (script, why) in [
        ("ctx.n", "Cannot cast from [java.lang.Integer] to [boolean]"),
        ("def n = 1;", "Cannot cast from [null] to [boolean]"),
        ("ctx.none.more == 1", "null"),
    ] {
        let error = test(script).unwrap_err();
        assert!(error.reason().contains(why), "{script}: {error:?}");
    }
}
