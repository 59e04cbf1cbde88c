import type { Finished } from "@belay/hook-files/Command"
import type { EventName } from "@belay/hook-files/HookConfig"
import * as Outcome from "@belay/hook-files/Outcome"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"

const ended = (
  exitCode: number | undefined,
  stdout: unknown = "",
  stderr = "",
  more: Partial<Finished> = {}
): Finished => ({
  exitCode,
  stdout: typeof stdout === "string" ? stdout : JSON.stringify(stdout),
  stderr,
  timedOut: false,
  overflowed: false,
  durationMs: 1,
  ...more
})

const read = (finished: Finished, event: EventName = "PreToolUse") => Outcome.read(finished, event)

const specific = (fields: object, event = "PreToolUse") => ({ hookSpecificOutput: { hookEventName: event, ...fields } })

// rows: C-30
describe("the outcome of a command", () => {
  // rows: C-27
  it("is a success without a word when it ends with 0 and writes nothing", () => {
    assert.deepEqual(read(ended(0)), { outcome: "success", context: [], messages: [], problems: [] })
  })

  // rows: C-25
  it("blocks at 2, with standard error as the reason", () => {
    assert.deepInclude(read(ended(2, "", "no\n")), { outcome: "blocking", blocked: "no" })
    assert.deepInclude(read(ended(2, "not json", "")), { outcome: "blocking", blocked: "blocked without a reason" })
  })

  it("blocks at 2 whatever the JSON says, with the reason of JSON that blocks", () => {
    assert.deepInclude(read(ended(2, specific({ permissionDecision: "allow" }), "no")), {
      outcome: "blocking",
      blocked: "no"
    })
    assert.deepInclude(read(ended(2, { decision: "block", reason: "json says" }, "no")), {
      outcome: "blocking",
      blocked: "json says"
    })
    assert.deepInclude(read(ended(2, { decision: 7 }, "no")), { outcome: "blocking", blocked: "no" })
    assert.deepInclude(read(ended(2, "{ broken", "no")), { outcome: "blocking", blocked: "no" })
  })

  it("is what JSON alone says at every other code", () => {
    for (const code of [0, 1, 3, 127]) {
      assert.deepInclude(read(ended(code, specific({ permissionDecision: "deny", permissionDecisionReason: "r" }))), {
        outcome: "blocking",
        blocked: "r"
      })
      assert.strictEqual(read(ended(code, { systemMessage: "hi" })).outcome, "success")
    }
  })

  // rows: C-28
  it("is an error that blocks nothing at other codes without JSON", () => {
    assert.deepInclude(read(ended(1, "text", "first\nsecond")), {
      outcome: "nonBlockingError",
      problem: "ended with 1: first"
    })
    assert.deepInclude(read(ended(127)), { outcome: "nonBlockingError", problem: "ended with 127" })
    assert.strictEqual(read(ended(1, "{ broken")).outcome, "nonBlockingError")
    assert.strictEqual(read(ended(undefined)).outcome, "nonBlockingError")
    assert.strictEqual(read(ended(undefined, "", "", { overflowed: true })).outcome, "nonBlockingError")
    assert.deepInclude(read(ended(2, `{"decision":"bl`, "no", { overflowed: true })), {
      outcome: "blocking",
      blocked: "no"
    })
  })

  it("is cancelled when it took too long, whatever it had written", () => {
    assert.deepInclude(read(ended(undefined, { decision: "block" }, "", { timedOut: true })), {
      outcome: "cancelled",
      problem: "took too long and was ended"
    })
  })

  it("takes arrays, quoted texts and broken JSON for plain text", () => {
    for (const text of [`[{"decision":"block"}]`, `"{}"`, "{ decision: block }", "plain"]) {
      assert.deepEqual(read(ended(0, text), "UserPromptSubmit").context, [text])
      assert.deepEqual(read(ended(0, text), "PreToolUse").context, [])
    }
    assert.strictEqual(read(ended(0, `\n\n  {"decision":"block","reason":"r"}`)).outcome, "blocking")
  })

  // rows: C-26, U-15
  it("stops everything with continue: false, which is blocking too", () => {
    const outcome = read(ended(0, { continue: false, stopReason: "enough" }), "Notification")
    assert.deepInclude(outcome, { outcome: "blocking", blocked: "enough" })
    assert.strictEqual(outcome.stop, "enough")
  })

  it("cannot block where there is nothing to block", () => {
    assert.strictEqual(read(ended(2, "", "for the model"), "PostToolUseFailure").outcome, "success")
    assert.deepEqual(read(ended(2, "", "for the model"), "PostToolUseFailure").context, ["for the model"])
    assert.deepEqual(read(ended(2, "", "for the user"), "SessionStart").messages, ["for the user"])
    assert.strictEqual(read(ended(2, "", "x"), "PermissionRequest").outcome, "nonBlockingError")
    const outcome = read(ended(0, { decision: "block" }), "SessionStart")
    assert.strictEqual(outcome.outcome, "success")
    assert.match(outcome.problems[0]!, /SessionStart cannot be blocked/)
  })

  // rows: C-20
  it("reads the other fields when one makes no sense", () => {
    const outcome = read(
      ended(0, {
        systemMessage: 5,
        suppressOutput: "yes",
        ...specific({ permissionDecision: "deny", updatedInput: [1] })
      })
    )
    assert.strictEqual(outcome.outcome, "blocking")
    assert.deepEqual(outcome.problems.map((problem) => problem.split(" ", 1)[0]), [
      "systemMessage",
      "updatedInput",
      "suppressOutput"
    ])
  })

  it("ignores fields that are meant for another event", () => {
    const outcome = read(ended(0, specific({ permissionDecision: "deny" }, "PostToolUse")))
    assert.strictEqual(outcome.outcome, "success")
    assert.match(outcome.problems[0]!, /hookEventName is not PreToolUse/)
    assert.strictEqual(read(ended(0, { hookSpecificOutput: { permissionDecision: "deny" } })).outcome, "blocking")
  })

  it("accepts an answer that tightens without the name of its event, and none that loosens", () => {
    const nameless = (decision: string) => ended(0, { hookSpecificOutput: { permissionDecision: decision } })
    assert.strictEqual(read(nameless("deny")).outcome, "blocking")
    assert.strictEqual(read(nameless("ask")).permission, "ask")
    const allowed = read(nameless("allow"))
    assert.isUndefined(allowed.permission)
    assert.match(allowed.problems[0]!, /allow does not count: hookSpecificOutput needs hookEventName PreToolUse/)
    const request = ended(0, { hookSpecificOutput: { decision: { behavior: "allow" } } })
    assert.isUndefined(read(request, "PermissionRequest").permission)
  })

  it("warns of an answer that is text because something stands beside it", () => {
    const answer = { decision: "block", reason: "no" }
    const beside = [
      `checking\n${JSON.stringify(answer)}\n`,
      `checking\n${JSON.stringify(answer, null, 2)}`,
      `${JSON.stringify(answer)}\n${JSON.stringify(answer)}`,
      `{"log": 1}\n  ${JSON.stringify({ systemMessage: "x" })}\ndone`
    ]
    for (const stdout of beside) {
      const outcome = read(ended(0, stdout))
      assert.strictEqual(outcome.outcome, "success", stdout)
      assert.match(outcome.problems[0]!, /counts as text/)
    }
    for (const stdout of ["done", "{ braces } in a text", `{"level":"info"}\n{"level":"warn"}`, "a {\n}"]) {
      assert.deepEqual(read(ended(0, stdout)).problems, [], stdout)
    }
  })

  it("reads nothing from a prototype", () => {
    const text =
      `{"__proto__":{"decision":"block","continue":false},"constructor":{"continue":false},"hookSpecificOutput":{"__proto__":{"permissionDecision":"deny"}}}`
    assert.strictEqual(read(ended(0, text)).outcome, "success")
  })

  it("survives JSON as deep as a megabyte can be", () => {
    const deep = `{"hookSpecificOutput":{"updatedInput":{"a":${"[".repeat(400_000)}${"]".repeat(400_000)}}}}`
    assert.match(read(ended(0, deep)).problems[0]!, /^updatedInput does not count/)
  })

  it("cuts reasons and messages", () => {
    const outcome = read(ended(2, { systemMessage: "m".repeat(20_000) }, "x".repeat(20_000)))
    assert.strictEqual(outcome.outcome, "blocking")
    assert.strictEqual(outcome.blocked?.length, Outcome.maxText)
    assert.strictEqual(outcome.messages[0]!.length, Outcome.maxText)
  })

  it("knows a command that wants to go on by itself", () => {
    assert.strictEqual(Outcome.detachMs(`{"async":true,"asyncTimeout":30}`), 30_000)
    assert.strictEqual(Outcome.detachMs(`{"async":true,"asyncTimeout":15000}`), 15_000)
    assert.strictEqual(Outcome.detachMs(`{"async":true,"asyncTimeout":-1}`), 86_400_000)
    for (const line of ["", `{"async":"true"}`, `{"async":false}`, `["async"]`, `{"__proto__":{"async":true}}`, "{"]) {
      assert.isUndefined(Outcome.detachMs(line), line)
    }
  })

  it("reads the old words", () => {
    assert.strictEqual(read(ended(0, { decision: "approve" })).permission, "allow")
    assert.deepInclude(read(ended(0, { decision: "block", reason: "old" })), { outcome: "blocking", blocked: "old" })
  })

  it("reads permissions", () => {
    const answer = (decision: object) =>
      read(ended(0, specific({ decision }, "PermissionRequest")), "PermissionRequest")
    assert.strictEqual(answer({ behavior: "allow" }).permission, "allow")
    assert.deepInclude(answer({ behavior: "deny", message: "never" }), { outcome: "blocking", blocked: "never" })
    assert.deepEqual(answer({ behavior: "allow", updatedInput: { command: "ls" } }).updatedInput, {
      command: "ls"
    })
    assert.isTrue(answer({ behavior: "deny", interrupt: true }).interrupt)
    assert.match(answer({ behavior: "allow", updatedInput: 1 }).problems[0]!, /updatedInput does not count/)
  })

  it.prop(
    "never breaks, whatever a command writes",
    [Schema.String, Schema.Json, Schema.Literals([0, 1, 2, 127])],
    ([noise, json, code]) => {
      const fields = [
        "continue",
        "stopReason",
        "decision",
        "reason",
        "systemMessage",
        "suppressOutput",
        "hookSpecificOutput"
      ]
      const shaped = Object.fromEntries(fields.map((key) => [key, json]))
      for (const event of ["PreToolUse", "PostToolUse", "Stop", "PermissionRequest", "SessionStart"] as const) {
        for (
          const stdout of [
            noise,
            JSON.stringify(json),
            JSON.stringify(shaped),
            `{${noise}`,
            JSON.stringify({ hookSpecificOutput: shaped })
          ]
        ) {
          const outcome = Outcome.read(ended(code, stdout, noise), event)
          assert.include(["success", "blocking", "nonBlockingError"], outcome.outcome)
          if (code === 2 && event !== "SessionStart" && event !== "PermissionRequest") {
            assert.strictEqual(outcome.outcome, "blocking")
          }
        }
      }
    }
  )
})

describe("outcomes together", () => {
  const verdict = (...outcomes: ReadonlyArray<Outcome.Answer>) => Outcome.merge(outcomes)
  const decision = (permissionDecision: string, reason: string, more: object = {}) =>
    read(ended(0, specific({ permissionDecision, permissionDecisionReason: reason, ...more })))

  // rows: C-31, U-01
  it("block when one blocks, with all reasons in order", () => {
    assert.strictEqual(
      verdict(read(ended(0)), read(ended(2, "", "one")), decision("allow", "fine"), decision("deny", "two")).blocked,
      "one\ntwo"
    )
  })

  it("put off before they ask, and ask before they allow", () => {
    assert.deepInclude(verdict(decision("allow", "a"), decision("ask", "b"), decision("defer", "c")), {
      permission: "defer",
      permissionReason: "c"
    })
    assert.deepInclude(verdict(decision("allow", "a"), decision("ask", "b")), {
      permission: "ask",
      permissionReason: "b"
    })
    assert.deepInclude(verdict(decision("allow", "a"), decision("allow", "b")), {
      permission: "allow",
      permissionReason: "a\nb"
    })
  })

  it("have the last new input, with a warning, and none when it is put off", () => {
    const two = verdict(
      decision("allow", "", { updatedInput: { a: 1 } }),
      decision("allow", "", { updatedInput: { a: 2 } })
    )
    assert.deepEqual(two.updatedInput, { a: 2 })
    assert.match(two.conflicts[0]!, /2 hooks returned updatedInput/)
    assert.isUndefined(verdict(decision("defer", "", { updatedInput: { a: 1 } })).updatedInput)
  })

  // rows: C-32, C-33
  it("keep every context and message, and what went wrong", () => {
    const answers = [
      read(ended(0, { systemMessage: "shown", ...specific({ additionalContext: "c1" }) })),
      read(ended(0, { systemMessage: "hidden", suppressOutput: true, ...specific({ additionalContext: "c2" }) })),
      read(ended(1, "", "oops")),
      read(ended(undefined, "", "", { timedOut: true }))
    ]
    const together = verdict(...answers)
    assert.deepEqual(together.context, ["c1", "c2"])
    assert.deepEqual(together.messages, ["shown"])
    assert.deepEqual(answers.map(({ problem }) => problem), [
      undefined,
      undefined,
      "ended with 1: oops",
      "took too long and was ended"
    ])
  })
})

describe("the text of a denial", () => {
  it("is the message for the user if the script gives no other reason", () => {
    const deny = specific({ permissionDecision: "deny" })
    assert.deepInclude(read(ended(0, { ...deny, systemMessage: "no secrets" })), {
      outcome: "blocking",
      blocked: "no secrets",
      messages: ["no secrets"]
    })
    assert.deepInclude(read(ended(0, { decision: "block", reason: "", systemMessage: "no secrets" })), {
      blocked: "no secrets"
    })
    assert.deepInclude(read(ended(0, { ...deny, stopReason: "enough", systemMessage: 7 })), { blocked: "enough" })
    assert.deepInclude(read(ended(2, { systemMessage: "no secrets" })), { blocked: "no secrets" })
    assert.deepInclude(read(ended(2, { systemMessage: "no secrets" }, "no")), { blocked: "no" })
    assert.deepInclude(read(ended(0, deny)), { blocked: "blocked without a reason" })
  })
})
