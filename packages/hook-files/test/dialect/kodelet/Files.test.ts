import * as Kodelet from "@belay/hook-files/Kodelet"
import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, symlinkSync } from "node:fs"
import { basename, join } from "node:path"
import { calls } from "../../../../../test/support/agent.ts"
import { script, world } from "./support.ts"

const hooks = ".kodelet/hooks"

describe("Kodelet.find", () => {
  // rows: D-01, D-02, D-03, D-05
  it("lists executables of the project, then of the user, by name, and runs nothing", () => {
    const { cwd, found, home, read } = world({
      [`${hooks}/20-b`]: "#!/bin/bash\ntouch ran",
      [`${hooks}/10-a`]: "#!/bin/bash\ntouch ran",
      [`${hooks}/off.disable`]: "#!/bin/bash\n",
      [`${hooks}/notes.txt`]: "no executable",
      [`~/${hooks}/00-mine`]: "#!/bin/bash\n"
    })
    mkdirSync(join(cwd, hooks, "folder"))
    symlinkSync(join(home, hooks, "00-mine"), join(cwd, hooks, "30-link"))
    symlinkSync("/nowhere", join(cwd, hooks, "40-broken"))
    assert.deepEqual(found.handlers.map(({ key, ofProject }) => [key, ofProject]), [["10-a", true], ["20-b", true], [
      "00-mine",
      false
    ]])
    const again = Kodelet.find(Kodelet.folders({ cwd, home }))
    assert.deepEqual(again.handlers.map(({ key }) => key), ["10-a", "20-b", "30-link", "00-mine"])
    assert.deepEqual(again.warnings.map(({ file }) => basename(file)), ["40-broken"])
    assert.strictEqual(read("ran"), "")
    assert.deepEqual(Kodelet.find([{ path: "/nowhere", ofProject: true }]), { handlers: [], warnings: [] })
    // If the project is the home folder, the project could have written them.
    assert.isTrue(Kodelet.find(Kodelet.folders({ cwd, home: cwd })).handlers.every(({ ofProject }) => ofProject))
  })

  // rows: D-06
  it("names those of plugins after their repository", () => {
    const { found } = world({
      [`~/.kodelet/plugins/acme@tools/hooks/x`]: "#!/bin/bash\n",
      [`~/${hooks}/x`]: "#!/bin/bash\n",
      [`.kodelet/plugins/acme@tools/hooks/x`]: "#!/bin/bash\n",
      [`${hooks}/x`]: "#!/bin/bash\n"
    })
    assert.deepEqual(found.handlers.map(({ key, ofProject }) => `${key} ${ofProject}`), [
      "x true",
      "acme/tools/x true",
      "x false",
      "acme/tools/x false"
    ])
  })
})

describe("Kodelet, what is hostile", () => {
  // rows: D-23
  it("is a warning, and the agent goes on", async () => {
    const { agent } = world({
      [`${hooks}/1-deep`]: script(
        "before_tool_call",
        `python3 -c "print('{\\"input\\":{\\"a\\":' + '['*3000 + ']'*3000 + '}}')"`
      ),
      [`${hooks}/2-deeper`]: script("before_tool_call", `python3 -c "print('['*300000)"`),
      [`${hooks}/3-long`]: script("before_tool_call", "head -c 3000000 /dev/zero | tr '\\0' x"),
      [`${hooks}/4-binary`]: script("before_tool_call", "head -c 1000 /dev/urandom"),
      [`${hooks}/5-prototype`]: script(
        "before_tool_call",
        `echo '{"__proto__":{"blocked":true},"input":{"command":"ls","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}'`
      ),
      [`${hooks}/6-silent`]: script("before_tool_call", "exec 1>&- 2>&-")
    })
    const { agent: made, requests, warnings } = agent([calls(["bash", { command: "pwd" }])])
    await using _ = made
    await made.run("go")
    assert.lengthOf(requests, 2)
    assert.deepEqual(warnings.map((one) => one.split(" ")[0]), ["1-deep", "2-deeper", "3-long", "4-binary"])
    assert.isUndefined(({} as { polluted?: number }).polluted)
  })
})
