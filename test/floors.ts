/**
 * The law of the house, as a function from sources to the sentences they break. See "Law of the house" in
 * ARCHITECTURE.md.
 */

/**
 * Where the rooms of a package lie. An import stays in its room or goes down; rooms on one floor have no door between
 * them.
 */
const floors: { readonly [name: string]: { readonly [room: string]: number } } = {
  core: { data: 0, hook: 1, port: 1, guard: 2, agent: 3, index: 4 },
  server: { host: 0, foreign: 0, serve: 1, index: 2 },
  observe: { report: 0, tracing: 0, index: 1 }
}

/** The parts of the rooms guard and agent (their `internal`), from below. A part imports only parts that lie below it. */
const partsOf: { readonly [room: string]: ReadonlyArray<string> } = {
  guard: ["platform", "schema", "event", "state", "definition", "io", "point", "capability", "toolCall", "session"],
  agent: [
    "output",
    "definition",
    "running",
    "window",
    "model",
    "subagent",
    "tool",
    "capability",
    "turn",
    "control",
    "session",
    "config"
  ]
}

/** The folders of `hook-files`, from below. A folder imports only folders that lie below it. `.` has the files on top. */
const foldersOfHookFiles: ReadonlyArray<string> = [
  "internal",
  "process/internal",
  "process",
  "runner/internal",
  "runner",
  "engine",
  "dialect/shared",
  "trust/internal",
  "dialect/claude/event",
  "dialect/claude/answer",
  "dialect/claude/config",
  "dialect/claude/plugin",
  "dialect/claude/input",
  "dialect/claude/effect",
  "dialect/claude",
  "dialect/codex",
  "dialect/factory",
  "dialect/copilot",
  "dialect/cursor",
  "dialect/gemini",
  "dialect/windsurf",
  "dialect/kodelet",
  "dialect/basecoat",
  "dialect/inkeep",
  "system",
  "discovery",
  "trust",
  "skill/internal",
  "skill",
  "."
]

/** What each package may import of the others. */
const below: { readonly [name: string]: ReadonlyArray<string> } = {
  core: [],
  hooks: ["core"],
  "hook-files": ["core", "hooks"],
  providers: ["core"],
  testing: ["core"],
  server: ["core"],
  guard: ["core"],
  observe: ["core", "hooks"],
  tools: ["core", "hooks", "hook-files"],
  cli: ["core", "hooks", "hook-files", "providers", "testing", "server", "observe", "tools", "guard"],
  sdk: ["core", "hooks", "providers"],
  examples: ["core", "hooks", "hook-files", "providers", "sdk", "server", "guard", "testing", "tools"]
}

/** Files of `core` that may import Effect modules which are not stable. None so far. */
const leaves: ReadonlySet<string> = new Set()

/** What the law needs to know about the world outside the sources. */
export interface Surroundings {
  /** Packages that each workspace names in its manifest. */
  readonly dependencies: { readonly [name: string]: ReadonlyArray<string> }
  /** Whether an Effect module, such as `effect/Effect`, is declared stable. */
  readonly isStable: (specifier: string) => boolean
}

/** Says how the sources (path to text) break the law; nothing to say means they keep it. */
export const violations = (sources: ReadonlyMap<string, string>, world: Surroundings): ReadonlyArray<string> => {
  const graph = new Map<string, Array<string>>()
  const broken: Array<string> = []
  for (const [path, text] of sources) {
    const edges: Array<string> = []
    graph.set(path, edges)
    for (const specifier of imports(text)) {
      const target = resolve(path, specifier, sources)
      if (target !== undefined) edges.push(target)
      const why = relative(specifier) && target === undefined
        ? "which does not exist"
        : judge(path, specifier, target, world)
      if (why !== undefined) broken.push(`${path} imports ${specifier}, ${why}`)
    }
  }
  return [...broken, ...bothWays(graph), ...cycles(graph).map((cycle) => `cycle: ${cycle.join(" -> ")}`)]
}

/**
 * Every specifier a source imports or exports from, dynamic and type-only ones too. Statements start at the first
 * column.
 */
export const imports = (text: string): ReadonlyArray<string> => {
  const statements = text.matchAll(/^(?:import|export)\s+(?:[\w\s{},*$]*?\bfrom\s*)?["']([^"'\n]+)["']/gm)
  const calls = text.replaceAll(/^\s*(?:\*|\/\/|\/\*).*$/gm, "").matchAll(/\bimport\(\s*["']([^"'\n]+)["']/g)
  return [...statements, ...calls].map((match) => match[1]!)
}

const judge = (
  path: string,
  specifier: string,
  target: string | undefined,
  world: Surroundings
): string | undefined => {
  const from = packageOf(path)
  // The roof shows what a user writes, and a user may import a package whole. The sdk is packages whole.
  const isBarrel = specifier === "effect" || /(^|\/)index\.ts$/.test(specifier) ||
    (from !== "examples" && from !== "sdk" && /^@belay\/[^/]+$/.test(specifier))
  if (isBarrel) {
    return "a barrel: import the module"
  }
  if (relative(specifier)) {
    if (packageOf(target!) !== from) return "a file of another package: import it by name"
    if (from === "hook-files") return judgeOrder(foldersOfHookFiles, folderOf(path), folderOf(target!))
    const rooms = floors[from]
    return rooms === undefined
      ? undefined
      : judgeRooms(rooms, roomOf(path), roomOf(target!)) ?? judgeParts(path, target!)
  }
  const owner = specifier.startsWith("@") ? specifier.split("/").slice(0, 2).join("/") : specifier.split("/")[0]!
  if (owner.startsWith("@belay/")) {
    const to = owner.slice("@belay/".length)
    if (to === from) return "its own package: import the file"
    if (!below[from]?.includes(to)) return `but ${from} may only import ${below[from]?.join(", ") || "itself"}`
    return target === undefined && specifier !== owner ? "which does not exist" : undefined
  }
  if (from === "core" && owner !== "effect") return "but core depends on effect only"
  if (from === "core" && !leaves.has(path) && !world.isStable(specifier)) return "which Effect does not call stable"
  if (specifier.startsWith("node:")) return undefined
  return world.dependencies[from]?.includes(owner) ? undefined : `which the manifest of ${from} does not name`
}

const judgeRooms = (
  rooms: { readonly [room: string]: number },
  from: string,
  to: string
): string | undefined => {
  const [here, there] = [rooms[from], rooms[to]]
  if (here === undefined || there === undefined) return `a room without a floor (${from} -> ${to})`
  if (here < there) return `upwards: ${to} lies above ${from}`
  return here === there && from !== to ? `sideways: there is no door between ${from} and ${to}` : undefined
}

const judgeParts = (path: string, target: string): string | undefined => {
  const [room, from, to] = [roomOf(path), partOf(path), partOf(target)]
  if (room !== roomOf(target) || from === undefined || to === undefined || from === to) return undefined
  return judgeOrder(partsOf[room] ?? [], from, to)
}

const judgeOrder = (parts: ReadonlyArray<string>, from: string, to: string): string | undefined => {
  const [here, there] = [parts.indexOf(from), parts.indexOf(to)]
  if (here < 0 || there < 0) return `a part without a floor (${from} -> ${to})`
  return here < there ? `upwards: the part ${to} lies above ${from}` : undefined
}

const relative = (specifier: string): boolean => specifier.startsWith(".")

const packageOf = (path: string): string => path.split("/")[1]!

const partOf = (path: string): string | undefined =>
  /^packages\/core\/src\/(?:agent|guard)\/internal\/([^/]+)\//.exec(path)?.[1]

const folderOf = (path: string): string => path.split("/").slice(3, -1).join("/") || "."

const roomOf = (path: string): string => path.split("/")[3]!.replace(/\.ts$/, "")

const resolve = (path: string, specifier: string, sources: ReadonlyMap<string, string>): string | undefined => {
  if (relative(specifier)) {
    const target = new URL(specifier, `file:///${path}`).pathname.slice(1)
    return sources.has(target) ? target : undefined
  }
  const [, name, module] = /^@belay\/([^/]+)\/([^/]+)$/.exec(specifier) ?? []
  return [...sources.keys()].find((file) =>
    file.startsWith(`packages/${name}/src/`) && file.endsWith(`/${module}.ts`) && !/\/(internal|bin)\//.test(file)
  )
}

/** Inner folders of which each imports the other. */
const bothWays = (graph: ReadonlyMap<string, ReadonlyArray<string>>): ReadonlyArray<string> => {
  const doors = new Set<string>()
  for (const [path, targets] of graph) {
    for (const target of targets) doors.add(`${dirname(path)} and ${dirname(target)}`)
  }
  return [...doors].flatMap((door) => {
    const [here, there] = door.split(" and ") as [string, string]
    const isInner = [here, there].every((folder) => folder.includes("/internal"))
    return isInner && here < there && doors.has(`${there} and ${here}`) ? [`${door} import each other`] : []
  })
}

const dirname = (path: string): string => path.slice(0, path.lastIndexOf("/"))

const cycles = (graph: ReadonlyMap<string, ReadonlyArray<string>>): ReadonlyArray<ReadonlyArray<string>> => {
  const found: Array<ReadonlyArray<string>> = []
  const done = new Set<string>()
  const walk = (path: string, parents: ReadonlyArray<string>): void => {
    const start = parents.indexOf(path)
    if (start >= 0) found.push([...parents.slice(start), path])
    if (start >= 0 || done.has(path)) return
    for (const next of graph.get(path) ?? []) walk(next, [...parents, path])
    done.add(path)
  }
  for (const path of graph.keys()) walk(path, [])
  return found
}
