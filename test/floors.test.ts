import { existsSync, globSync, readdirSync, readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { imports, type Surroundings, violations } from "./floors.ts"

const packages = readdirSync("packages").filter((name) => existsSync(`packages/${name}/package.json`))

const manifest = (name: string): { readonly [field: string]: object | undefined } =>
  JSON.parse(readFileSync(`packages/${name}/package.json`, "utf8"))

const stable = new Map<string, boolean>()

const world: Surroundings = {
  dependencies: Object.fromEntries(
    packages.map((
      name
    ) => [
      name,
      ["dependencies", "peerDependencies", "imports"].flatMap((field) => Object.keys(manifest(name)[field] ?? {}))
    ])
  ),
  isStable: (specifier) => {
    const known = stable.get(specifier)
    if (known !== undefined) return known
    const source = `node_modules/${specifier.replace("effect/", "effect/src/")}.ts`
    const header = existsSync(source) ? readFileSync(source, "utf8").split("*/", 1)[0]! : ""
    stable.set(specifier, header.includes("@stability stable"))
    return header.includes("@stability stable")
  }
}

const sources = new Map(
  globSync("packages/*/src/**/*.ts").sort().map((path) => [path.replaceAll("\\", "/"), readFileSync(path, "utf8")])
)

const planted = (path: string, text: string): ReadonlyArray<string> =>
  violations(new Map([...sources, [path, text]]), world)

const assertBroken = (found: ReadonlyArray<string>, sentence: RegExp): void =>
  assert.isTrue(found.some((line) => sentence.test(line)), `expected ${sentence} among:\n${found.join("\n")}`)

describe("the law of the house", () => {
  it("is kept by every source", () => {
    assert.isAbove(sources.size, 20)
    assert.strictEqual(violations(sources, world).join("\n"), "")
  })

  it("forbids an import that goes up", () => {
    const found = planted(
      "packages/core/src/data/Planted.ts",
      `import type { AgentHook } from "../hook/AgentHook.ts"\n`
    )
    assertBroken(found, /data\/Planted\.ts imports \.\.\/hook\/AgentHook\.ts, upwards/)
  })

  it("forbids an import that goes sideways", () => {
    const found = planted(
      "packages/core/src/hook/Planted.ts",
      `import {\n  LlmProvider\n} from "../port/LlmProvider.ts"\n`
    )
    assertBroken(found, /hook\/Planted\.ts imports \.\.\/port\/LlmProvider\.ts, sideways/)
  })

  it("forbids an import from the host to the protocols that are served", () => {
    assertBroken(
      planted("packages/server/src/host/Planted.ts", `import type { Serve } from "../serve/Serve.ts"\n`),
      /host\/Planted\.ts imports \.\.\/serve\/Serve\.ts, upwards: serve lies above host/
    )
  })

  it("forbids an import from a part of the agent to a part above it", () => {
    const found = planted(
      "packages/core/src/guard/internal/state/Planted.ts",
      `import type { GuardTurn } from "../point/guardTurn.ts"\n`
    )
    assertBroken(
      found,
      /state\/Planted\.ts imports \.\.\/point\/guardTurn\.ts, upwards: the part point lies above state/
    )
    assertBroken(
      planted(
        "packages/core/src/guard/internal/state/Planted.ts",
        `import type { Turn } from "../../../agent/internal/running/turn.ts"\n`
      ),
      /upwards: agent lies above guard/
    )
    assertBroken(
      planted("packages/core/src/agent/internal/new/Planted.ts", `import type { Turn } from "../running/turn.ts"\n`),
      /a part without a floor/
    )
  })

  it("forbids an import from a folder of the hook files to a folder above it", () => {
    assertBroken(
      planted(
        "packages/hook-files/src/engine/Planted.ts",
        `import type { System } from "../dialect/shared/system.ts"\n`
      ),
      /engine\/Planted\.ts imports \.\.\/dialect\/shared\/system\.ts, upwards: the part dialect\/shared lies above engine/
    )
    assertBroken(
      planted("packages/hook-files/src/dialect/shared/Planted.ts", `import { read } from "../claude/ClaudeCode.ts"\n`),
      /upwards: the part dialect\/claude lies above dialect\/shared/
    )
    assertBroken(
      planted(
        "packages/hook-files/src/dialect/new/Planted.ts",
        `import { isFields } from "../../internal/fields.ts"\n`
      ),
      /a part without a floor \(dialect\/new -> internal\)/
    )
  })

  it("forbids two inner folders that import each other", () => {
    const found = planted(
      "packages/server/src/host/internal/site/planted.ts",
      `import type { Planted } from "../advance/errors.ts"\n`
    )
    assertBroken(found, /host\/internal\/advance and packages\/server\/src\/host\/internal\/site import each other/)
  })

  it("has at most 20 sources in a folder", () => {
    const sizes = Map.groupBy(sources.keys(), (path) => path.slice(0, path.lastIndexOf("/")))
    const large = [...sizes].filter(([, { length }]) => length > 20)
    assert.deepEqual(large.map(([folder]) => folder), [])
  })

  it("forbids a cycle, be it of types only", () => {
    const found = violations(
      new Map([
        ["packages/core/src/data/A.ts", `import type { B } from "./B.ts"\nexport type A = B\n`],
        ["packages/core/src/data/B.ts", `export type B = import("./A.ts").A\n`]
      ]),
      world
    )
    assert.deepEqual(found, [
      "cycle: packages/core/src/data/A.ts -> packages/core/src/data/B.ts -> packages/core/src/data/A.ts"
    ])
  })

  it("forbids guests to see each other", () => {
    const found = planted("packages/hooks/src/Planted.ts", `export * from "@belay/providers/Planted"\n`)
    assertBroken(found, /hooks may only import core/)
  })

  it("forbids a way around the front door of a package", () => {
    const found = planted("packages/hooks/src/Planted.ts", `import { Json } from "../../core/src/data/Json.ts"\n`)
    assertBroken(found, /a file of another package/)
  })

  it("forbids barrels, packages the manifest does not name and Effect modules that are not stable", () => {
    const found = planted(
      "packages/core/src/agent/Planted.ts",
      `import { Effect } from "effect"\nimport * as Core from "@belay/core"\nimport "openai"\nimport * as Path from "effect/Path"\nimport * as LanguageModel from "effect/ai/LanguageModel"\n`
    )
    for (
      const sentence of [
        /imports effect, a barrel/,
        /@belay\/core, a barrel/,
        /openai, but core depends on effect only/,
        /effect\/Path, which/,
        /effect\/ai\/LanguageModel, which/
      ]
    ) {
      assertBroken(found, sentence)
    }
    assertBroken(
      planted("packages/hooks/src/Planted.ts", `import OpenAi from "openai"\n`),
      /which the manifest of hooks does not name/
    )
  })

  it("reads imports of every form and nothing else", () => {
    const text = [
      `import a from "a"`,
      `import type { B,`,
      `  C } from 'b'`,
      `export * as d from "d"`,
      `import "e"`,
      `type F = import("f").F`,
      `const g = await import("g")`,
      ` * import h from "h"`,
      `// import("i")`,
      `export const from = "j"`
    ]
    assert.deepEqual(imports(text.join("\n")), ["a", "b", "d", "e", "f", "g"])
  })
})
