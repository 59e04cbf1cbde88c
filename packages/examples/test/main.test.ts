import { Endpoint } from "@belay/testing"
import { assert, describe, it } from "vitest"
import { runProgram } from "./run.ts"

const main = (...args: ReadonlyArray<string>) => runProgram("main.ts", { args })
const against = (url: string, env: NodeJS.ProcessEnv, ...args: ReadonlyArray<string>) =>
  runProgram("main.ts", { args, env: { OPENAI_BASE_URL: url, ...env } })

describe("the main job", () => {
  it("runs without key and network: three tool calls and more, an approval, a 503 and its fallback, tokens and cost against the budget", async () => {
    const { code, stderr, stdout } = await main("--approve", "allow")
    assert.strictEqual(stderr, "")
    assert.strictEqual(code, 0)
    assert.match(
      stdout,
      /^belay {2}embedded endpoint http:\/\/127\.0\.0\.1:\d+\/v1 \(no key, no network\) {2}model demo:overloaded-once/
    )
    assert.match(stdout, /turn 1/)
    assert.match(stdout, /failed +primary: Overloaded, .* -> falling back to backup/)
    assert.match(stdout, /model +backup/)
    for (const tool of ["list_files", "read_file", "delete_files", "send_mail"]) {
      assert.match(stdout, new RegExp(`tool +${tool} `))
    }
    assert.match(stdout, /hook +preToolCall +tool-arguments +Transform args\.subject: .* -> .*ms/)
    assert.strictEqual(stdout.match(/hook +preToolCall +human-approval +Ask send_mail/g)?.length, 2)
    assert.match(stdout, /hook +preTurn +input-guardrail +Continue/)
    assert.match(stdout, /tokens +\d+ in, \d+ out {2}\(so far \d+ in, \d+ out, \$0\.\d+ of \$0\.05\)/)
    assert.match(stdout, /text +Done, in 4 steps\./)
    assert.match(stdout, /done {2}completed in .* s\n {6}5 model calls \(1 fallback\), 4 tools, 1 mail sent\n/)
  })

  it("denies calls that need approval if there is no terminal, says why, and continues", async () => {
    const { code, stdout } = await main()
    assert.strictEqual(code, 0)
    assert.match(stdout, /denied +delete_files by human-approval: .*nobody is at a terminal/)
    assert.notMatch(stdout, /tool +delete_files/)
    assert.match(stdout, /2 tools, 0 mail sent/)
  })

  it("uses the configured endpoint and names it", async () => {
    await using endpoint = await Endpoint.start({ apiKey: "test-right-key" })
    const { code, stdout } = await against(
      endpoint.url,
      { OPENAI_API_KEY: "test-right-key", OPENAI_MODEL: "demo-small" },
      "--prompt",
      "Say hello"
    )
    assert.strictEqual(code, 0)
    assert.include(stdout, `belay  endpoint ${endpoint.url}  model demo-small`)
    assert.match(stdout, /Say hello/)
    assert.strictEqual(endpoint.requests.at(-1)?.path, "/v1/chat/completions")
  })

  it("says in one line that the key is wrong", async () => {
    await using endpoint = await Endpoint.start({ apiKey: "test-right-key" })
    const { code, stderr } = await against(endpoint.url, {
      OPENAI_API_KEY: "test-wrong-key",
      OPENAI_MODEL: "demo-small"
    })
    assert.strictEqual(code, 1)
    assert.match(stderr.trim(), /^error {2}Auth: .*set OPENAI_API_KEY.*$/)
    assert.notInclude(stderr, "test-wrong-key")
  })

  it("says in one line that no server is listening", async () => {
    const closed = await Endpoint.start()
    await closed.close()
    const { code, stderr } = await against(closed.url, { OPENAI_API_KEY: "test-key" })
    assert.strictEqual(code, 1)
    assert.match(stderr.trim(), /^error {2}Connection: .*is something listening at http:\/\/127\.0\.0\.1:\d+\/v1\?\)$/)
  })

  it("says in one line that the model is unknown", async () => {
    const { code, stderr } = await main("--model", "no-such-model")
    assert.strictEqual(code, 1)
    assert.match(stderr.trim(), /^error {2}NotFound: .*no-such-model.*--model or OPENAI_MODEL\)$/)
  })

  it("stops at the budget", async () => {
    const { code, stderr } = await main("--budget", "0.0001", "--approve", "allow")
    assert.strictEqual(code, 1)
    assert.match(stderr, /error {2}HookRejected: cost-tracker rejected preLlmCall: .*limit/)
  })

  it("refuses unknown options and wrong values", async () => {
    for (const args of [["--bogus"], ["--approve", "maybe"], ["--budget", "nothing"]]) {
      const { code, stderr } = await main(...args)
      assert.strictEqual(code, 2)
      assert.match(stderr, /^error {2}.*\n\nnpm start -- \[options\]/)
    }
  })
})
