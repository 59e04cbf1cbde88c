/** What tools and their arguments are called in the files of each system, and back. */
import type { Json } from "@belay/core/Json"
import { assert, describe, it } from "vitest"
import * as Copilot from "../../../src/dialect/copilot/tools.ts"
import { translated } from "../../../src/dialect/cursor/tools.ts"
import * as Gemini from "../../../src/dialect/gemini/tools.ts"
import { known, nameOf, type ToolNames, variables } from "../../../src/dialect/shared/toolNames.ts"

const about = (...properties: ReadonlyArray<string>) =>
  ({
    name: "t",
    description: "",
    inputSchema: { type: "object", properties: Object.fromEntries(properties.map((name) => [name, {}])) }
  }) as never

describe("the name of a tool", () => {
  it.each([
    ["bash", "Bash"],
    ["run-command", "Bash"],
    ["RunCommand", "Bash"],
    ["readFile", "Read"],
    ["READ", "Read"],
    ["str_replace", "Edit"],
    ["Read2", "Read2"],
    ["mcp__git__log", "mcp__git__log"],
    ["constructor", "constructor"]
  ])("%s is %s", (tool, expected) => {
    assert.strictEqual(nameOf(tool, {}), expected)
    // It is remembered.
    assert.strictEqual(nameOf(tool, {}), expected)
  })

  it("is that of the host, if it has one", () => {
    const names: ToolNames = { bash: "Shell", other: { name: "Edit" } }
    assert.deepEqual(["bash", "other", "read"].map((tool) => nameOf(tool, names)), ["Shell", "Edit", "Read"])
  })

  it("is guessed for any number of tools, and for very long ones", () => {
    const long = "a".repeat(129)
    for (let index = 0; index < 600; index++) assert.strictEqual(nameOf(`tool${index}`, {}), `tool${index}`)
    assert.strictEqual(nameOf(long, {}), long)
    assert.strictEqual(nameOf("bash", {}), "Bash")
  })
})

describe("the arguments of a tool", () => {
  const shown = (
    tool: string,
    args: Json,
    names: ToolNames = {},
    cwd?: string,
    meta?: never
  ) => {
    const { back, input } = known(tool, args, names, cwd, meta)
    return { input, same: back(input), changed: back({ ...input, x: 1 }) }
  }
  const same = (
    tool: string,
    args: { readonly [name: string]: Json },
    input: object,
    ...rest: ReadonlyArray<never>
  ) => {
    const found = shown(tool, args, ...rest)
    assert.deepEqual(found.input, input as never)
    assert.deepEqual(found.changed, { ...found.same as object, x: 1 })
    return found.same
  }

  it("have the fields of Claude Code, and become those of the tool again", () => {
    for (
      const [tool, args, input] of [
        ["bash", { cmd: "ls" }, { command: "ls" }],
        ["bash", { command: "ls", cmd: "other" }, { command: "ls", cmd: "other" }],
        ["read", { path: "a", limit: 5 }, { file_path: "a", limit: 5 }],
        ["read", { "File-Name": "a" }, { file_path: "a" }],
        ["edit", { path: "a", old: "x", replacement: "y" }, { file_path: "a", old_string: "x", new_string: "y" }],
        ["write", { target_file: "a", data: "x" }, { file_path: "a", content: "x" }],
        ["web_fetch", { href: "h" }, { url: "h" }],
        ["own", { path: "a" }, { path: "a" }]
      ] as const
    ) assert.deepEqual(same(tool, args, input), args as never)
  })

  it("have the fields that the host says, also if others fit better", () => {
    const names = { run: { name: "Bash", fields: { where: "command", gone: "other" } } } as never
    assert.deepEqual(same("run", { where: "ls", cmd: "x" }, { command: "ls", cmd: "x" }, names), {
      where: "ls",
      cmd: "x"
    })
    // A field that the tool does not take is hidden.
    assert.deepEqual(same("run", { where: "ls", command: "x" }, { command: "ls" }, names), { where: "ls" })
  })

  it("that the tool does not take are not renamed, and hide nothing", () => {
    const input = { command: "ls" }
    assert.deepEqual(
      same("bash", { cmd: "ls", command: "x" }, input, {} as never, undefined as never, about("cmd")),
      { cmd: "ls" }
    )
    const both = { cmd: "ls", command: "x" }
    assert.deepEqual(same("bash", both, both, {} as never, undefined as never, about("cmd", "command")), both)
    const other = { script: "ls" }
    assert.deepEqual(same("bash", other, other, {} as never, undefined as never, about("command")), other)
    const loose = { name: "t", description: "", inputSchema: { properties: null } } as never
    assert.deepEqual(same("bash", { cmd: "ls" }, input, {} as never, undefined as never, loose), { cmd: "ls" })
  })

  it("have absolute paths where scripts want them, and the path of the model again if nobody changed it", () => {
    const of = (path: Json, tool = "read") => known(tool, { path }, {}, "/p").input
    assert.deepEqual(of("a/b"), { file_path: "/p/a/b" })
    for (const path of ["/a", "~/a", "", "https://h/a", 5]) assert.deepEqual(of(path), { file_path: path })
    assert.deepEqual(known("edit_notebook", { path: "n" }, {}, "/p").input, { notebook_path: "/p/n" })
    assert.deepEqual(known("ls", { path: "a" }, {}, "/p").input, { path: "a" })
    const { back, input } = known("read", { file_path: "a", n: 1 }, {}, "/p")
    assert.deepEqual(input, { file_path: "/p/a", n: 1 })
    assert.deepEqual(back(input), { file_path: "a", n: 1 })
    assert.deepEqual(back({ file_path: "/p/b" }), { file_path: "/p/b" })
    const own = { file_path: "/a" }
    assert.strictEqual(known("read", own, {}, "/p").input, own)
  })

  it("that are something else than an object are a value", () => {
    for (const args of ["ls", null, [1], 5] satisfies ReadonlyArray<Json>) {
      const { back, input } = known("bash", args, {}, undefined)
      assert.deepEqual(input, { value: args })
      assert.deepEqual([back(input), back({ value: "x" }), back({})], [args, "x", null])
    }
  })
})

describe("the variables of a call", () => {
  it("are its texts, numbers and flags, as far as a process can be started with them", () => {
    const long = "x".repeat(32_768)
    assert.deepEqual(
      variables(
        "Bash",
        { a: "1", b: 2, c: true, d: null, e: {}, "f-g": 1, long, longer: `${long}x`, nul: "a\0" },
        {
          a: "2",
          h: "3"
        },
        [1],
        "x"
      ),
      {
        tool_name: "Bash",
        tool_input_a: "1",
        tool_input_b: "2",
        tool_input_c: "true",
        tool_input_long: long,
        tool_input_h: "3"
      }
    )
    const many = Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`a${index}`, index]))
    assert.lengthOf(Object.keys(variables("t", many)), 501)
    const large = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`a${index}`, long]))
    assert.lengthOf(Object.keys(variables("t", large)), 9)
    assert.deepEqual(variables("t", { ["n".repeat(64)]: 1, ["n".repeat(65)]: 1 }), {
      tool_name: "t",
      [`tool_input_${"n".repeat(64)}`]: "1"
    })
  })

  it("have a path, if there is only a file", () => {
    assert.deepEqual(variables("t", { file_path: "a" }), {
      tool_name: "t",
      tool_input_file_path: "a",
      tool_input_path: "a"
    })
    assert.deepEqual(variables("t", { file_path: "a", path: "b" })["tool_input_path"], "b")
  })
})

describe("the names of a system", () => {
  it("of Cursor become those of Claude Code", () => {
    assert.deepEqual(
      translated({
        a: "Shell",
        b: "Task",
        c: "Write",
        d: { name: "Shell", fields: { x: "command" } },
        e: { name: "X" }
      }),
      { a: "Bash", b: "Agent", c: "Write", d: { name: "Bash", fields: { x: "command" } }, e: { name: "X" } }
    )
  })

  it("of Gemini CLI are used for tools of any name, and for those of MCP servers", () => {
    const tools = Gemini.make({ run: "run_shell_command", own: { name: "replace", fields: { f: "file_path" } } })
    assert.deepEqual(["bash", "run", "own", "other", "mcp__git__log", "mcp__a__b__c"].map(tools.nameOf), [
      "run_shell_command",
      "run_shell_command",
      "replace",
      "other",
      "mcp_git_log",
      "mcp_a_b__c"
    ])
    assert.deepEqual(tools.known("own", { f: "a" }).input, { file_path: "a" })
    assert.deepEqual(Gemini.mcpOf("mcp__a__b__c"), { mcp_context: { server_name: "a", tool_name: "b__c" } })
    assert.deepEqual(Gemini.mcpOf("mcp__a"), {})
    const taken = { ...about("path", "n") as object, name: "read" } as never
    assert.deepEqual(Gemini.argsFor(tools, taken, { file_path: "a", n: 1 }), { path: "a", n: 1 })
    assert.deepEqual(Gemini.argsFor(tools, { name: "read", inputSchema: {} } as never, { file_path: "a" }), {
      file_path: "a"
    })
  })

  it("of Copilot rename the fields, unless the tool has them already", () => {
    const tools = Copilot.make({
      patch: { name: "apply_patch", fields: { f: "path", o: "old_str" } },
      sh: "powershell"
    })
    const { back, input, name } = tools.known("str_replace", { path: "a", old: "x", new: "y" })
    assert.deepEqual([name, input], ["edit", { path: "a", old_str: "x", new_str: "y" }])
    assert.deepEqual(back({ path: "b", old_str: "x", new_str: "z" }), { path: "b", old: "x", new: "z" })
    assert.deepEqual(tools.known("patch", { f: "a", o: "x" }).input, { path: "a", old_str: "x" })
    assert.deepEqual(["sh", "patch", "Task", "own"].map(tools.nameOf), ["bash", "edit", "task", "own"])
    const clash = { file_path: "a", path: "b" }
    assert.deepEqual(tools.known("read", clash, about("file_path")).input, { path: "a" })
    assert.deepEqual(tools.known("read", clash, about("file_path", "path")).input, clash)
    assert.deepEqual(tools.known("read", clash).input, clash)
  })

  it("of Copilot and of Claude Code are both there, and either can be changed", () => {
    const tools = Copilot.make({})
    const { back, input, name } = Copilot.both(tools.known("write", { path: "a", text: "x" }))
    assert.deepEqual([name, input], ["Write", { file_path: "a", content: "x", path: "a", file_text: "x" }])
    assert.deepEqual(back(input), { path: "a", text: "x" })
    assert.deepEqual(back({ ...input, path: "b" }), { path: "b", text: "x" })
    assert.deepEqual(back({ ...input, file_path: "b" }), { path: "b", text: "x" })
    assert.deepEqual(back({ ...input, file_path: "b", path: "c" }), { path: "b", text: "x" })
    assert.deepEqual(back({ path: "b", content: "y" }), { path: "b", text: "y" })
  })
})
