/**
 * The fold as the specification tells it, one sentence a line, for hooks that are plain data. It shares nothing with
 * the
 * sources: no table, no order, no fingerprint. An event is no more than the text it carries.
 */
import { carries, outputAt, valueAt } from "../events.ts"
import { type Answer, type ChainCase, hangsByPromise, type HookCase, isImmediate } from "./cases.ts"

/** What can be seen of one run of a point. */
export interface Observed {
  readonly action: string
  /** The value of a Replace, the output of a Respond. */
  readonly carried: unknown
  readonly reason: string | undefined
  readonly text: string
  readonly by: string | undefined
  readonly failure: string | undefined
  /** Which hooks were called, in order, with which text; for an observer also with what it saw. */
  readonly calls: ReadonlyArray<string>
  readonly failures: ReadonlyArray<string>
  /** Whether somebody had to be waited for. */
  readonly waited: boolean
  /** Whose answer came after its timeout. */
  readonly late: ReadonlyArray<string>
  readonly record: ReadonlyArray<string> | undefined
}

/** SPEC section 3, legal actions beside Continue. */
const legal: { readonly [point: string]: string } = {
  onSessionStart: "TJA",
  onSessionEnd: "",
  preTurn: "TPJSA",
  postTurn: "TPJA",
  onTurnError: "P",
  preLlmCall: "TPJSA",
  onLlmDelta: "TJA",
  postLlmCall: "TPJA",
  onLlmError: "TPJA",
  preToolCall: "TPJSAK",
  postToolCall: "TPJA",
  onPermission: "PJAK",
  onToolDenied: "",
  postStep: "TA",
  preStop: "TA",
  preDelegation: "TPJSA",
  postDelegation: "TPJA",
  preCompaction: "TPJS",
  postCompaction: "",
  onBudget: "A",
  onSignal: "JS"
}
/** SPEC section 3, points in reverse order. */
const reversed = "onSessionEnd postTurn onLlmDelta postLlmCall postToolCall postStep postDelegation postCompaction"
  .split(" ")
const toolPoints = "preToolCall postToolCall onPermission onToolDenied".split(" ")
const letters: { readonly [tag: string]: string } = {
  Transform: "T",
  Replace: "P",
  Reject: "J",
  Respond: "S",
  Abort: "A",
  Ask: "K"
}

export const isLegal = (point: string, tag: string): boolean =>
  tag === "Continue" || legal[point]!.includes(letters[tag]!)
export const isReverse = (point: string): boolean => reversed.includes(point)

export const reference = ({ freeze, hooks, point, record }: ChainCase): Observed => {
  let action = "Continue"
  let carried: unknown
  let reason: string | undefined
  let text = ""
  let by: string | undefined
  let failure: string | undefined
  let waited = false
  const calls: Array<string> = []
  const failures: Array<string> = []
  const late: Array<string> = []
  const lines: Array<string> = []
  const asked = new Map<string, number>()
  const seen = new Map<string, string>()
  const questions = new Map<string, string>()
  let answeredByPolicy = false

  const ask = (hook: HookCase): void => {
    const { name } = hook
    const times = asked.get(name) ?? 0
    const answer = hook.answers[times % hook.answers.length]!
    asked.set(name, times + 1)
    if (!isImmediate(answer)) waited = true
    if (answer.what === "hangs" && hangsByPromise(answer.how)) late.push(`${name} answer`)
    const told = [
      action,
      ...(reason === undefined ? [] : [`because ${reason}`]),
      ...(by === undefined ? [] : [`by ${by}`])
    ]
    calls.push(`${name} sees "${text}"${observes(hook) ? ` and ${told.join(" ")}` : ""}`)
    const again = times > 0 ? " again" : ""
    const shadow = hook.mode === "shadow" ? " shadow" : ""

    const broke = breaks(answer, freeze) ?? (allowed(point, answer) ? undefined : "illegal")
    if (broke !== undefined) {
      const policy = observes(hook) || hook.mode === "shadow" ? "open" : policyOf(hook, point, broke)
      failures.push(`${name} ${broke} ${policy}`)
      lines.push(`${name}: ${policy === "open" ? "failed-open" : "failed-closed"} (${broke})`)
      if (policy !== "open") {
        action = policy === "abort" ? "Abort" : "Reject"
        carried = undefined
        reason = `hook ${name} failed at ${point} (${broke})`
        by = name
        failure = `${name} ${broke} ${policy}`
      }
    } else {
      const tag = tagOf(answer)
      const why = reasonOf(tag, name)
      const obeyed = !observes(hook) && hook.mode !== "shadow"
      // A hook that is asked again makes no change, unless it says that making it twice is making it once.
      const ignored = obeyed && (tag === "Transform" || tag === "Replace") && times > 0 && hook.reinvoke === "ifChanged"
      const changes = obeyed && !ignored && (tag === "Transform" || tag === "Replace") && carries(point)
      lines.push(
        `${name}: ${tag}${why === undefined ? "" : ` (${why})`}${changes ? " changed" : ""}${shadow}${again}${
          ignored ? " ignored" : ""
        }`
      )
      // The answer of a hook replaces its question.
      if (obeyed && !ignored) questions.delete(name)
      if (obeyed && !ignored && tag === "Ask") questions.set(name, why!)
      else if (obeyed && !ignored && (tag === "Transform" || tag === "Replace")) {
        const next = answer.what === "append" ? text + name : answer.what === "set" ? "k" : text + name.toUpperCase()
        if (carries(point)) text = next
        if (action !== "Respond") {
          by = name
          if (tag === "Replace" || action === "Replace") {
            action = "Replace"
            carried = valueAt(point, next)
          } else action = "Transform"
        }
      } else if (obeyed && !ignored && tag !== "Continue" && !(tag === "Respond" && answeredByPolicy)) {
        // The first policy that answers is obeyed, before any other hook that answers.
        by = name
        action = tag
        carried = tag === "Respond" ? outputAt(point, name) : undefined
        reason = why
        answeredByPolicy = tag === "Respond" && hook.kind === "policy"
      }
    }
    seen.set(name, text)
  }

  const ordered = [...hooks].sort((a, b) => tier(a) - tier(b) || (a.priority ?? 100) - (b.priority ?? 100))
  if (reversed.includes(point)) ordered.reverse()
  const stopped = () => action === "Reject" || action === "Abort"

  // Each hook sees the value of the one before. Reject and Abort end it. Replace and Respond skip all but policies.
  for (const hook of ordered.filter((hook) => !observes(hook))) {
    const isAnswered = action === "Replace" || action === "Respond"
    if (stopped() || (isAnswered && hook.kind !== "policy")) lines.push(`${hook.name}: skipped (decided by ${by})`)
    else if (!wants(hook, point)) lines.push(`${hook.name}: skipped (not for this tool)`)
    else ask(hook)
  }

  // A gate that has not answered for the final value is asked again, once a round, in at most three rounds.
  const gates = ordered.filter((hook) =>
    (hook.reinvoke === "ifChanged" || hook.reinvoke === "reapply") && hook.mode !== "shadow" && !observes(hook) &&
    wants(hook, point)
  )
  const mustSee = ({ kind, name }: HookCase) => seen.get(name) !== text && (action !== "Respond" || kind === "policy")
  const unsure = () => gates.find(mustSee)
  for (let round = 1; round <= 3; round++) {
    for (const gate of gates) if (!stopped() && mustSee(gate)) ask(gate)
  }
  const doubtful = unsure()
  if (doubtful !== undefined && !stopped() && isLegal(point, "Reject")) {
    action = "Reject"
    carried = undefined
    reason = `${doubtful.name} was asked 3 times and the value still changes`
    by = doubtful.name
  }

  // A question is put last, unless the operation does not happen anyway.
  const asker = ordered.find(({ name }) => questions.has(name))
  if (asker !== undefined && !stopped() && action !== "Respond") {
    action = "Ask"
    carried = undefined
    reason = questions.get(asker.name)
    by = asker.name
  }

  // Observers always run, last; what they answer changes nothing.
  for (const hook of ordered.filter(observes)) {
    if (wants(hook, point)) ask(hook)
    else lines.push(`${hook.name}: skipped (not for this tool)`)
  }

  // A point without hooks costs nothing: no record either.
  if (hooks.length > 0) lines.unshift(`${point}${subjectOf(point)}: ${action}${by === undefined ? "" : ` by ${by}`}`)
  return {
    action,
    carried,
    reason,
    text,
    by,
    failure,
    calls,
    failures,
    waited,
    late,
    record: record ? lines : undefined
  }
}

const subjectOf = (point: string): string =>
  toolPoints.includes(point) ? " deploy" : point === "onSignal" ? " file-changed" : ""

const tier = (hook: HookCase): number => ["managed", "project", "agent"].indexOf(hook.tier ?? "project")

const observes = ({ kind, observes }: HookCase): boolean => kind === "observer" || observes === true

const wants = ({ tools }: HookCase, point: string): boolean => {
  if (tools === undefined || !toolPoints.includes(point)) return true
  const [without, only] = [
    [tools].flat().filter((pattern) => pattern.startsWith("!")),
    [tools].flat().filter((pattern) => !pattern.startsWith("!"))
  ]
  return !without.includes("!deploy") &&
    ((only.length === 0 && without.length > 0) || only.some((pattern) => ["deploy", "de*y", "*"].includes(pattern)))
}

const tagOf = ({ what }: Answer): string =>
  what === "nothing" || what === "mutates" ? "Continue" : what === "append" || what === "set" ? "Transform" : what

const reasonOf = (tag: string, name: string): string | undefined =>
  tag === "Reject"
    ? `no from ${name}`
    : tag === "Abort"
    ? `end from ${name}`
    : tag === "Ask"
    ? `may it, asks ${name}`
    : undefined

const allowed = (point: string, answer: Answer): boolean => {
  const tag = tagOf(answer)
  return (tag === "Continue" || tag in letters) && isLegal(point, tag)
}

/** How a hook breaks that does not answer at all. */
const breaks = ({ how, what }: Answer, freeze: boolean): string | undefined => {
  if (what === "hangs") return "timeout"
  if (what === "fails") return "failed"
  if (what === "dies") return "died"
  if (what === "interrupts") return "interrupted"
  // A promise cannot be resolved with something that must not be touched.
  if (what === "proxy" && (how === "promise" || how === "thenable")) return "rejected"
  if (what !== "throws" && !(what === "mutates" && freeze)) return undefined
  return how === "now"
    ? "threw"
    : how === "promise" || how === "thenable"
    ? "rejected"
    : how === "succeed"
    ? "failed"
    : "died"
}

/** SPEC section 6: where the wanted end of the operation is not possible, the next milder one. */
const policyOf = (hook: HookCase, point: string, broke: string): "open" | "reject" | "abort" => {
  const failOpen = hook.failOpen ?? hook.kind !== "policy"
  const onFailure = hook.onFailure ?? (failOpen ? "open" : "reject")
  const wanted = broke === "timeout" ? hook.onTimeout ?? onFailure : onFailure
  if (wanted === "open") return "open"
  if (wanted === "abort" && isLegal(point, "Abort")) return "abort"
  return isLegal(point, "Reject") ? "reject" : "open"
}
