/** The config that `belay guard init` writes. */
import { check } from "@belay/guard/CoverageCheck"
import * as Guard from "@belay/guard/Guard"
import { all, type Wire } from "@belay/hook-files/Wires"
import * as Result from "effect/Result"
import { driverOf } from "./run/reach.ts"

/** What a person has answered. */
export interface Answers {
  readonly system: string
  readonly outward: "ask" | "deny" | "allow"
  readonly values: "ask" | "deny" | "allow"
  /** 0 for no limit. */
  readonly calls: number
}

/** Commands that reach others: what they did cannot be taken back. */
const outward = [
  "git push*",
  "gh pr *",
  "gh release *",
  "npm publish*",
  "pnpm publish*",
  "yarn npm publish*",
  "cargo publish*",
  "docker push*",
  "kubectl *",
  "terraform apply*"
]

/** One config works in all systems. */
const own: ReadonlyArray<string> = [...new Set(all.flatMap((wire) => wire.own ?? []))]

/** Returns the text of the config. `gaps` are hooks that the system cannot enforce everywhere. */
export const configText = ({ calls, outward: commands, values }: Answers, gaps: ReadonlyArray<string>): string => {
  const hooks: Array<readonly [module: string, code: string]> = [
    [
      "ProtectedPaths",
      "// The agent changes neither files with secrets nor its own guard.\n" +
      "    ProtectedPaths.make({ write: [...ProtectedPaths.defaults, \"belay.guard.*\", \"~/.belay/**\"] })"
    ],
    ["Secrets", "// Keys and passwords are not sent anywhere by tools.\n    Secrets.make()"],
    ["LoopDetector", "// The same call again and again ends.\n    LoopDetector.make()"]
  ]
  if (commands !== "allow") {
    const rules = outward.map((rule) => `        "Bash(${rule})"`).join(",\n")
    hooks.unshift(
      [
        "PermissionRules",
        "// What others see at once is decided by a person.\n    PermissionRules.make({\n" +
        `      otherwise: "allow",\n      ${commands}: [\n${rules}\n      ]\n    })`
      ],
      [
        "DestructiveCommands",
        "// So is what cannot be taken back.\n" +
        `    DestructiveCommands.make({ onMatch: "${commands === "ask" ? "ask" : "reject"}" })`
      ]
    )
  }
  if (values !== "allow") {
    hooks.unshift([
      "DataFlow",
      "// Whoever wrote a file, a page or a mail does not decide where the agent sends something.\n" +
      `    DataFlow.coding({\n      ungrounded: "${values}",\n` +
      "      // What reaches only the agent itself: its notes, its skills, its sub-agents.\n" +
      `      sinks: {\n${own.map((tool) => `        ${tool}: "local"`).join(",\n")}\n      }\n    })`
    ])
  }
  if (calls > 0) hooks.push(["ToolCallLimit", `ToolCallLimit.make({ perTurn: ${calls} })`])
  const names = hooks.map(([name]) => name).sort()
  return [
    `import { ${names.join(", ")} } from "@belay/hooks"`,
    "",
    "export default {",
    `  hooks: [\n    ${hooks.map(([, code]) => code).join(",\n    ")}\n  ]${gaps.length === 0 ? "" : ","}`,
    ...(gaps.length === 0 ? [] : [
      "  // These hooks also act where the agent gives a guard no say, such as requests to the model. There they " +
      "do nothing.",
      `  allowUnguarded: [${gaps.map((name) => JSON.stringify(name)).join(", ")}]`
    ]),
    "}",
    ""
  ].join("\n")
}

/** Returns the hooks that must hold, and act at points where the system cannot enforce what they decide. */
export const gapsOf = (wire: Wire, options: Guard.GuardOptions): ReadonlyArray<string> => {
  const guard = Guard.make({ log: false, ...options })
  const driver = driverOf(wire)
  return guard.chain.hooks.map(({ name }) => name).filter((name) => {
    const others = guard.chain.hooks.flatMap((hook) => hook.name === name ? [] : [hook.name])
    return Result.isFailure(Result.try(() => check({ chain: guard.chain, allowUnguarded: others }, driver)))
  })
}
