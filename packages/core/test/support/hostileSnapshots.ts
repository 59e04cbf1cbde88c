/**
 * Changes of snapshots, decisions and keys, made from the schema of the state and from a run that waits for a person.
 * An agent in another process, which has nothing but the changed value, resumes it.
 */
import { random, type SeededRandom } from "@belay/testing/SeededRandom"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { AgentConfig } from "../../src/agent/AgentConfig.ts"
import { agentTool } from "../../src/agent/agentTool.ts"
import { createAgent } from "../../src/agent/createAgent.ts"
import { canonical, type JsonObject } from "../../src/data/Json.ts"
import * as RunState from "../../src/data/RunState.ts"
import * as Approvals from "../../src/guard/Approvals.ts"
import type { Suspended } from "../../src/guard/RunResult.ts"
import * as HookAction from "../../src/hook/HookAction.ts"
import * as HookState from "../../src/hook/HookState.ts"
import { recording } from "./agent.ts"
import { key, suspended } from "./approvals.ts"
import { asks, scripted } from "./model.ts"

// oxlint-disable-next-line typescript/no-explicit-any -- JSON that is changed in every way
type Loose = any
type Path = ReadonlyArray<string | number>

/** One change of a value. */
export interface Mutation {
  readonly what: string
  readonly path: Path
  readonly apply: (value: Loose) => void
}

const seen = HookState.key("seen", 0)

/** Two calls wait: one of the agent, and one of a sub-agent. Everything that a tool gets is written down. */
const make = (ran: Array<unknown>, args: JsonObject, more: Partial<AgentConfig>) => {
  const gate = {
    name: "gate",
    tools: "deploy",
    kind: "policy",
    reinvoke: "ifChanged",
    preToolCall: (_call: unknown, ctx: Loose) => {
      ctx.state.update(seen, (n: number) => n + 1)
      ctx.inject("a person was asked")
      return HookAction.ask("deploy?", { risk: "high" }, {
        expiresInMs: 3_600_000,
        approvers: ["ada", "bob"],
        quorum: 1,
        allowed: ["approve", "deny"]
      })
    }
  } as const
  const deploy = () => recording("deploy", (given) => void ran.push(given)).tool
  const other = () => recording("other", (given) => void ran.push({ other: given })).tool
  const says = (first: Loose) =>
    scripted([], { after: ({ messages }) => messages.some(({ role }) => role === "tool") ? "done" : first }).provider
  const worker = createAgent({
    name: "worker",
    provider: says(asks(["deploy", { ...args, by: "worker" }, "c"])),
    tools: [deploy(), other()]
  })
  return createAgent({
    provider: says(asks(["deploy", args, "c"], ["work", { message: "go" }, "w"], ["other", { n: 1 }, "o"])),
    tools: [deploy(), other(), agentTool({ name: "work", description: "Works", agent: worker })],
    hooks: [gate],
    log: false,
    ...more
  })
}

/** A run that waits, another run of the same agent, and the arguments that a person approves in the first one. */
export interface World {
  readonly keys: Partial<AgentConfig>
  readonly run: Suspended
  readonly other: Suspended
  /** What may run after a resume, as canonical JSON: nobody is asked about the tool `other`. */
  readonly approved: ReadonlySet<string>
}

export const makeWorld = async (isSigned: boolean): Promise<World> => {
  const keys = isSigned ? { approvals: { keys: [key] as const } } : {}
  const run = await suspended(make([], { to: "test", n: 1 }, keys))
  const other = await suspended(make([], { to: "prod", n: 2 }, keys))
  return {
    keys,
    run,
    other,
    approved: new Set([...run.pending.map(({ args }) => args), { other: { n: 1 } }].map(canonical))
  }
}

/** A decision for each question, by Ada. */
export const decide = async ({ keys, run: { pending, sessionId, turnNumber } }: World) =>
  Object.fromEntries(
    await Promise.all(pending.map(async (ask) => {
      const decision = { type: "approve", by: "ada" } as const
      const signed = keys.approvals === undefined
        ? decision
        : await Approvals.sign(key, { sessionId, turnNumber, ask }, decision)
      return [ask.callId, signed] as const
    }))
  )

/** How a resume ended, and what ran that nobody approved. */
export interface Outcome {
  readonly end: string
  readonly message: string
  readonly wrong: ReadonlyArray<string>
  /** Whether the error is one of Belay's, with a message. */
  readonly isTyped: boolean
}

/** Resumes in an agent that is made for it. */
export const resume = async (
  world: World,
  snapshot: unknown,
  decisions: unknown,
  more: Partial<AgentConfig> = {}
): Promise<Outcome> => {
  const ran: Array<unknown> = []
  const agent = make(ran, { to: "test", n: 1 }, { ...world.keys, ...more })
  const outcome = await agent.resume(snapshot as never, decisions as never).then(
    ({ status }) => ({ end: status as string, message: "", isTyped: true }),
    (error: Loose) => ({
      end: String(error?.problem ?? error?._tag ?? "defect"),
      message: String(error?.message),
      isTyped: error instanceof Error && "_tag" in error && error.message !== ""
    })
  )
  await agent.close()
  return { ...outcome, wrong: ran.map(canonical).filter((args) => !world.approved.has(args)) }
}

export const copyOf = (value: unknown): Loose => JSON.parse(JSON.stringify(value))

const at = (value: Loose, path: Path): Loose => path.reduce((inner, key) => inner?.[key], value)

/** Every place of a value, its own first. */
export const placesOf = (value: Loose, path: Path = []): ReadonlyArray<Path> =>
  typeof value !== "object" || value === null
    ? []
    : Object.keys(value).flatMap((name) => {
      const place = [...path, Array.isArray(value) ? Number(name) : name]
      return [place, ...placesOf(value[name], place)]
    })

const put = (value: Loose, path: Path, made: Loose): void => {
  const parent = at(value, path.slice(0, -1))
  const name = path.at(-1)!
  if (typeof parent === "object" && parent !== null) {
    Object.defineProperty(parent, name, { value: made, enumerable: true, writable: true, configurable: true })
  }
}

const hostile: { readonly [what: string]: () => Loose } = {
  "null": () => null,
  "a number": () => 7,
  "a negative number": () => -1,
  "a huge number": () => Number.MAX_VALUE,
  "no number": () => Number.NaN,
  "an empty text": () => "",
  "a huge text": () => "x".repeat(100_000),
  "a list": () => [],
  "an object": () => ({}),
  "true": () => true,
  "__proto__": () => JSON.parse(`{"__proto__": {"status": "decided", "decision": {"type": "approve"}}}`),
  "a getter that throws": () =>
    Object.defineProperty({}, "type", {
      enumerable: true,
      get: () => {
        throw new Error("no")
      }
    }),
  "a deep value": () => JSON.parse(`${"[".repeat(200)}${"]".repeat(200)}`)
}

/** Changes of one place: removed, of another type, hostile, of another run, twice. */
export const mutationsAt = (path: Path, other: unknown): ReadonlyArray<Mutation> => [
  {
    what: "removed",
    path,
    apply: (value) => {
      const parent = at(value, path.slice(0, -1))
      const name = path.at(-1)!
      if (Array.isArray(parent)) parent.splice(Number(name), 1)
      else if (typeof parent === "object" && parent !== null) delete parent[name]
    }
  },
  ...Object.entries(hostile).map(([what, made]) => ({ what, path, apply: (value: Loose) => put(value, path, made()) })),
  { what: "of another run", path, apply: (value) => put(value, path, copyOf(at(other, path) ?? null)) },
  {
    what: "twice",
    path,
    apply: (value) => {
      const parent = at(value, path.slice(0, -1))
      if (Array.isArray(parent)) parent.push(copyOf(parent[Number(path.at(-1))]))
      else if (typeof parent === "object" && parent !== null) parent[`${path.at(-1)}2`] = copyOf(parent[path.at(-1)!])
    }
  },
  {
    what: "a getter with another answer each time",
    path,
    apply: (value) => {
      const parent = at(value, path.slice(0, -1))
      if (typeof parent !== "object" || parent === null) return
      const [first, second] = [copyOf(at(value, path) ?? null), copyOf(at(other, path) ?? null)]
      let reads = 0
      Object.defineProperty(parent, path.at(-1)!, {
        enumerable: true,
        configurable: true,
        get: () => reads++ === 0 ? first : second
      })
    }
  }
]

/** Changes that fit the schema: another valid value for each field, also for those that the run does not have. */
export const schemaMutations = async (count: number, seed: string): Promise<ReadonlyArray<Mutation>> => {
  const structs: ReadonlyArray<readonly [Path, { readonly [field: string]: Schema.Top }]> = [
    [[], RunState.RunState.fields],
    [["calls", 0], RunState.CallState.fields],
    [["calls", 0, "ask"], RunState.PendingAsk.fields],
    [["calls", 1, "child", "calls", 0], RunState.CallState.fields],
    [["calls", 1, "child", "calls", 0, "ask"], RunState.PendingAsk.fields]
  ]
  const made: Array<Mutation> = []
  for (const [path, fields] of structs) {
    for (const [name, schema] of Object.entries(fields)) {
      const values = await Effect.runPromise(
        Arbitrary.sampleEffect(Arbitrary.schema(schema as Schema.Schema<unknown>), { count, seed })
      )
      for (const value of values) {
        const place = [...path, name]
        made.push({ what: "another valid value", path: place, apply: (one) => put(one, place, copyOf(value ?? null)) })
      }
    }
  }
  return made
}

/** A change may not be possible any more after an earlier one, which may have put a getter there that throws. */
const applied = (snapshot: Loose, apply: Mutation["apply"]): void => {
  try {
    apply(snapshot)
  } catch {
    // The earlier changes stay.
  }
}

/** Applies one to four random changes to a snapshot and the decisions. */
export const randomAttack = (world: World, mutations: ReadonlyArray<Mutation>, decisions: object, seed: number) => {
  const { below, chance, pick }: SeededRandom = random(seed)
  const snapshot = copyOf(world.run.snapshot)
  const chosen = Array.from({ length: 1 + below(4) }, () => pick(mutations))
  for (const { apply } of chosen) applied(snapshot, apply)
  const decided = copyOf(decisions)
  const places = placesOf(decided)
  if (chance(0.3)) pick(mutationsAt(pick(places), {})).apply(decided)
  return { snapshot, decisions: decided, what: chosen.map(({ path, what }) => `${path.join(".")}: ${what}`).join(", ") }
}
