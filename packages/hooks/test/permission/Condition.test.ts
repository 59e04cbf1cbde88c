import type { Json } from "@belay/core/Json"
import * as Condition from "@belay/hooks/Condition"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { harmless } from "../support/harmlessShellLines.ts"
import { bypasses } from "../support/shellLines.ts"

const rule = (text: string) => Result.getOrThrow(Condition.parse(text))

const at: Condition.Setting = { cwd: "/p", home: "/h/ada", realpath: () => undefined }
const guard: Condition.Setting = { ...at, use: "guard" }

const evaluate = (text: string, tool: string, args: Json, setting: Condition.Setting = at) =>
  Condition.evaluate(rule(text), { tool, args }, setting)

const shell = (text: string, command: string, setting: Condition.Setting = at) =>
  evaluate(text, "Bash", { command }, setting)

/** Whether a hook with this condition runs. It also runs when the verdict is `unknown`. */
const hits = (verdict: Condition.Verdict) => verdict !== "no-match"

describe("rules about commands", () => {
  const rows: ReadonlyArray<readonly [rule: string, command: string, hit: boolean]> = [
    ["Bash(git push*)", "git push", true],
    ["Bash(git push*)", "git push origin x", true],
    ["Bash(git push*)", "git pushx", true],
    ["Bash(git push*)", "npm t && git push", true],
    ["Bash(git push*)", "git status", false],
    ["Bash(git push *)", "git push", true],
    ["Bash(git push *)", "git push o", true],
    ["Bash(git push *)", "git pushx", false],
    ["Bash(git push *)", "echo $(date)", true],
    ["Bash(git push *)", "echo $X", true],
    ["Bash(rm *)", "echo $(rm -rf /)", true],
    ["Bash(rm *)", "echo $(date)", false],
    ["Bash(rm *)", "echo $X", false],
    ["Bash(git *)", "FOO=bar git push", true],
    ["Bash(npm run test:*)", "npm run test", true],
    ["Bash(npm run test:*)", "npm run test --watch", true],
    ["Bash(npm run test:*)", "npm run test:unit", false],
    ["Bash(npm run test *)", "npm run test", true],
    ["Bash(npm run test *)", "npm run test --watch", true],
    ["Bash(npm run test *)", "npm run test:unit", false],
    ["Bash(npm run build)", "npm run build", true],
    ["Bash(npm run build)", "npm run build --x", false],
    ["Bash(* --version)", "node --version", true],
    ["Bash(git * main)", "git push origin main", true],
    ["Bash(git * main)", "git push origin dev", false],
    ["Bash(git:* push)", "git push", false],
    ["Bash(git:* push)", "git x push", false],
    ["Bash", "anything at all", true],
    ["Bash(*)", "anything at all", true]
  ]
  for (const [text, command, hit] of rows) {
    it(`${text} ${hit ? "is about" : "is not about"} ${command}`, () =>
      assert.strictEqual(hits(shell(text, command)), hit))
  }

  it("finds the command in every tool that runs commands, and in no other", () => {
    for (
      const [tool, args] of [["run_command", { cmd: "git push" }], ["terminal", { script: "git push" }], ["x", {
        command: ["git", "push"]
      }]] as const
    ) {
      assert.strictEqual(evaluate("Bash(git push*)", tool, args), "match")
    }
    assert.strictEqual(evaluate("Bash(git push*)", "write_file", { path: "a", content: "git push" }), "no-match")
    assert.strictEqual(evaluate("Bash", "BashOutput", { bash_id: "1" }), "no-match")
    const kinds: Condition.Kinds = { deploy: { kind: "shell", field: "with" } }
    assert.strictEqual(evaluate("Bash(git push*)", "deploy", { with: "git push" }, { ...at, kinds }), "match")
    assert.strictEqual(evaluate("Bash(git push*)", "deploy", { other: "git push" }, { ...at, kinds }), "unknown")
    for (
      const args of [{ command: "git", args: ["push"] }, { commands: ["ls", "git push"] }, {
        command: ["sh", "-c", "git push"]
      }, {
        steps: [{ cmd: "git push" }]
      }, { a: { b: { c: { d: { command: "git push" } } } } }]
    ) {
      assert.strictEqual(evaluate("Bash(git push*)", "x", args), "match", JSON.stringify(args))
    }
    assert.strictEqual(evaluate("Bash(git push*)", "run_python", { code: "git push" }), "no-match")
    const deep = Array.from({ length: 60 }).reduce<Json>((inner) => ({ inner }), { command: "git push" })
    assert.strictEqual(evaluate("Bash(git push*)", "x", deep), "unknown")
    const large = { points: Array.from({ length: 50_000 }, (_, n) => n), names: Array.from({ length: 5_000 }, String) }
    assert.strictEqual(evaluate("Bash(git push*)", "plot", large), "no-match")
    assert.strictEqual(evaluate("PowerShell(git push*)", "PowerShell", { command: "git push" }), "match")
  })
})

describe("rules about other arguments", () => {
  const rows: ReadonlyArray<readonly [rule: string, tool: string, args: Json, verdict: Condition.Verdict]> = [
    ["WebFetch(domain:*.example.com)", "WebFetch", { url: "https://a.b.example.com/x" }, "match"],
    ["WebFetch(domain:*.example.com)", "WebFetch", { url: "https://example.com" }, "no-match"],
    ["WebFetch(domain:*.example.com)", "fetch_page", { url: "https://A.Example.COM./x" }, "match"],
    ["WebFetch(domain:example.com)", "WebFetch", { url: "https://example.com@other.test/" }, "no-match"],
    ["WebFetch(domain:example.com)", "WebFetch", { url: "https://example.com:8443/" }, "match"],
    ["WebFetch(domain:example.com)", "WebFetch", { url: "ht!tp://" }, "unknown"],
    ["mcp__s", "mcp__s__t", {}, "match"],
    ["mcp__s__*", "mcp__s__t", {}, "match"],
    ["mcp__s__t", "mcp__s__t", {}, "match"],
    ["mcp__s", "mcp__st__t", {}, "no-match"],
    ["Agent(Explore)", "Agent", { subagent_type: "Explore" }, "match"],
    ["Agent(Explore)", "Task", { subagent_type: "Plan" }, "no-match"],
    ["Agent(model:opus)", "Agent", { subagent_type: "Plan", model: "opus" }, "match"],
    ["Agent(model:opus)", "Agent", { subagent_type: "Plan", model: "small" }, "no-match"],
    ["Bash(run_in_background:true)", "Bash", { command: "ls", run_in_background: true }, "match"],
    ["Bash(run_in_background:true)", "Bash", { command: "ls", run_in_background: false }, "no-match"],
    ["Bash(command:rm *)", "Bash", { command: "ls; \\rm x" }, "match"],
    ["send_mail(to:*@example.com)", "send_mail", { to: "ada@example.com" }, "match"],
    ["send_mail(__proto__:x)", "send_mail", JSON.parse("{\"__proto__\":\"x\"}"), "match"],
    ["send_mail(constructor:*)", "send_mail", { to: "a" }, "no-match"],
    ["toString", "constructor", {}, "no-match"],
    ["*", "anything", null, "match"],
    ["skill(pdf)", "skill", { name: "pdf" }, "match"]
  ]
  for (const [text, tool, args, verdict] of rows) {
    it(`${text} says ${verdict} to ${tool} ${JSON.stringify(args)}`, () =>
      assert.strictEqual(evaluate(text, tool, args), verdict))
  }

  it("rejects invalid rules, and names their option", () => {
    for (
      const text of [
        "",
        "  ",
        "Bash(ls",
        "Bash()",
        "(ls)",
        "Bash(a) || Bash(b)",
        "Edit|Write",
        "!Bash",
        "Bash(!ls)",
        `Bash(${"x".repeat(2_000)})`,
        7 as never
      ]
    ) {
      const why = Result.match(Condition.parse(text, "rules.deny[3]"), {
        onSuccess: () => "",
        onFailure: ({ message }) => message
      })
      assert.include(why, "rules.deny[3]: ", String(text))
    }
    assert.isTrue(Result.isFailure(Condition.parseAll(["Bash", "Bash("], "x")))
  })
})

describe("capabilities", () => {
  const etc = "write(/etc/**)"
  const writes = [
    ..."echo x > /etc/a|echo x >> /etc/a|ls &> /etc/a|cp a /etc/|cp -t /etc a b|mv a /etc/b|mv /etc/a b|rm -rf /etc/a|rm -rf /etc"
      .split(
        "|"
      ),
    ..."sed -i s/a/b/ /etc/a|dd if=x of=/etc/a|cd /etc && rm passwd|touch /etc/a|chmod 777 /etc/a|ln -s a /etc/b|curl -o /etc/a http://example.com"
      .split("|"),
    ..."install a /etc/b|truncate -s0 /etc/a|find /etc -delete|tar -xf a.tar -C /etc|(cd /; rm etc/a)".split("|"),
    ..."rm /etc/{passwd,shadow}|rm /et[c]/a|rm -rf /|exec 3<>/etc/a|rsync a /etc/a|cp a ../etc/b|rm //etc//a|rm /etc/../etc/a|mkdir -p /ETC/a|rm -rf /e*"
      .split("|"),
    ..."echo x >$TARGET|rm $X|find /etc -exec rm {} +|python -c 'open(1)'|bash -c 'echo x > /etc/a'|git -C /etc checkout -- a|pushd /etc; >a|wget -P /etc http://a.test/x"
      .split("|")
  ]
  for (
    const line of [
      ...writes,
      "echo x >| /etc/a",
      "cat a | tee /etc/b",
      "cat a | sudo tee -a /etc/b",
      "cat list | xargs rm"
    ]
  ) {
    it(`${etc} stops ${line}`, () => assert.isTrue(hits(evaluate(etc, "Bash", { command: line }, guard))))
  }
  const others =
    "cat /etc/hosts|ls /etc|cp /etc/hosts .|rm -rf dist|echo /etc/a|echo x > out.txt|grep -r x /etc|git status|npm test|mkdir -p build/etc|cd src && rm a|ls 2>&1 >/dev/null|rm *.log|diff /etc/a b"
  for (const line of others.split("|")) {
    it(`${etc} lets ${line} pass`, () =>
      assert.strictEqual(evaluate(etc, "Bash", { command: line }, guard), "no-match"))
  }

  it("apply to every tool that has them", () => {
    assert.strictEqual(evaluate(etc, "save_file", { path: "/etc/a" }), "match")
    assert.strictEqual(evaluate(etc, "read_file", { path: "/etc/a" }), "no-match")
    assert.strictEqual(evaluate("read(.env)", "read_file", { path: ".env" }), "match")
    assert.strictEqual(evaluate("read(.env)", "Bash", { command: "cat < .env" }, guard), "match")
    assert.strictEqual(evaluate("read(.env)", "Bash", { command: "grep -r KEY ." }, guard), "match")
    assert.strictEqual(evaluate("exec", "terminal", { command: "ls" }), "match")
    assert.strictEqual(evaluate("network", "Bash", { command: "ls; curl http://example.com" }), "match")
    assert.strictEqual(evaluate("network", "Bash", { command: "ls" }), "no-match")
    assert.strictEqual(
      evaluate("network(domain:*.example.com)", "Bash", { command: "curl -s https://a.example.com/x" }),
      "match"
    )
    assert.strictEqual(evaluate("network(domain:*.example.com)", "Bash", { command: "curl $URL" }), "unknown")
    assert.strictEqual(evaluate("write", "Bash", { command: "echo hi" }), "no-match")
    assert.strictEqual(evaluate("write", "Bash", { command: "echo hi > a" }), "match")
  })
})

describe("a guard against `git push`", () => {
  it("has at least 200 disguises to test", () => assert.isAtLeast(new Set(bypasses).size, 200))

  for (const [index, line] of bypasses.entries()) {
    it(`stops ${index}: ${JSON.stringify(line).slice(0, 90)}`, () => {
      assert.isTrue(hits(shell("Bash(git push*)", line)), "git push*")
      assert.isTrue(hits(shell("Bash(git push *)", line)), "git push *")
      assert.isTrue(hits(shell("Bash(git *)", line)), "git *")
    })
  }

  it("stops few harmless lines", () => {
    assert.isAtLeast(new Set(harmless).size, 60)
    const taken = harmless.filter((line) => hits(shell("Bash(git push*)", line)))
    // A line with variables, arguments from an input or code in another language is unknown, so it matches on purpose.
    const opaque = taken.filter((line) => /[$`]|-c |xargs/.test(line))
    assert.deepEqual(taken.filter((line) => !opaque.includes(line)), [])
    assert.isAtMost(taken.length / harmless.length, 0.06)
  })

  it("never covers a line that evades the rule", () => {
    const allowed = [
      "Bash(git status *)",
      "Bash(echo *)",
      "Bash(ls *)",
      "Bash(npm *)",
      "Bash(sudo *)",
      "Bash(find *)",
      "Bash(env *)"
    ].map(
      rule
    )
    assert.deepEqual(
      bypasses.filter((line) => Condition.covers(allowed, { tool: "Bash", args: { command: line } }, at)),
      []
    )
  })
})

describe("rules that allow", () => {
  const rules = [
    "Bash(git status *)",
    "Bash(npm run build)",
    "Bash(ls *)",
    "Bash(sort *)",
    "write(out/**)",
    "WebFetch(domain:example.com)"
  ]
    .map(rule)
  const covers = (command: string) => Condition.covers(rules, { tool: "Bash", args: { command } }, at)

  it("cover a line if they cover every command in it", () => {
    for (
      const line of [
        "git status",
        "git status -s && ls -la",
        "ls | sort",
        "npm run build; ls",
        "ls > out/list",
        "ls 2>/dev/null"
      ]
    ) {
      assert.isTrue(covers(line), line)
    }
  })

  it("do not cover other commands, unreadable lines, or commands in addition", () => {
    const lines = [
      ..."git push|git status && rm x|ls $(rm x)|ls $HOME|ls > list|ls > out/../list|npm run build --x|A=b ls|/tmp/ls|./git status|ls `x`"
        .split("|"),
      ..."ls; rm x|ls & rm x|bash -c ls|sudo ls|xargs ls|ls #\nrm x|ls <(rm x)|eval ls|ls 'a|git -c core.pager=x status|env ls|LS"
        .split(
          "|"
        ),
      ..."PATH=/x ls|PATH=/x:$PATH ls|export PATH=/x; ls|declare -x PATH=/x && ls|env PATH=/x ls".split("|")
    ]
    for (const line of lines) assert.isFalse(covers(line), line)
  })

  it("need every address and every file", () => {
    assert.isTrue(Condition.covers(rules, { tool: "WebFetch", args: { url: "https://example.com" } }, at))
    assert.isFalse(
      Condition.covers(rules, { tool: "WebFetch", args: { urls: ["https://example.com", "https://other.test"] } }, at)
    )
    assert.isTrue(Condition.covers(rules, { tool: "save", args: { path: "out/a" } }, at))
    assert.isFalse(Condition.covers(rules, { tool: "save", args: { files: [{ path: "out/a" }, { path: "b" }] } }, at))
    assert.isFalse(Condition.covers([], { tool: "Bash", args: { command: "ls" } }, at))
  })
})
