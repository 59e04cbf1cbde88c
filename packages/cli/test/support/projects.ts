/** Projects whose output tests compare to the letter. */
import { chmodSync } from "node:fs"
import { join } from "node:path"
import { look, type World } from "../../src/internal/world.ts"
import { settings, world } from "../belay.ts"

type Made = ReturnType<typeof world>

export const lookAt = ({ cwd, home, managed }: Made, more: object = {}): World =>
  look({ cwd, home, managed, dialects: [], files: [], plugins: [], off: false, systems: [], ...more })

/** Three systems, all kinds of entries, and executables that are switched off or cannot run. */
export const severalSystems = () => {
  const made = world({
    "home/.claude/settings.json": {
      ...settings("Stop", [{ command: "exit 0", timeout: 7, async: true }]),
      permissions: { allow: ["Bash(ls)"], deny: ["Read(./x)", "Bash(rm *)"], ask: ["Bash(git *)"] }
    },
    "project/.claude/settings.json": {
      hooks: {
        PreToolUse: [{
          matcher: "Bash",
          hooks: [
            { type: "command", command: ".claude/hooks/guard.sh", if: "Bash(git push *)" },
            { type: "command", command: "node", args: ["a b", "-x"] },
            {
              type: "http",
              url: "https://example.com/x",
              headers: { A: "$TOKEN" },
              allowedEnvVars: ["TOKEN", "OTHER"]
            },
            { type: "mcp_tool", server: "git", tool: "check" },
            { type: "prompt", prompt: "Block it." }
          ]
        }],
        SessionEnd: [{ hooks: [{ type: "command", command: "true" }] }]
      }
    },
    "project/.claude/hooks/guard.sh": "#!/bin/bash\nexit 2 # stderr\n",
    "project/.codex/hooks.json": settings("Stop", [{ command: "true" }]),
    "project/.kodelet/hooks/guard": "#!/bin/bash\n# Keeps main clean.\n[ $1 = hook ] && echo before_tool_call\n",
    "project/.kodelet/hooks/old.disable": "#!/bin/bash\n",
    "project/.kodelet/hooks/idle": "#!/bin/bash\n",
    "project/.kodelet/hooks/folder/x": "#!/bin/bash\n"
  })
  chmodSync(join(made.cwd, ".kodelet/hooks/idle"), 0o644)
  return made
}

/** Managed settings, and settings of a user who switched hooks off. */
export const silenced = () =>
  world({
    "home/.claude/settings.json": { ...settings("Stop", [{ command: "true" }]), disableAllHooks: true },
    "managed/managed-settings.json": settings("Stop", [{ command: "false" }, {
      command: "false",
      timeout: 1,
      once: true
    }]),
    "home/.claude/skills/x/SKILL.md":
      "---\nname: x\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: 'true'\n          once: true\n---\n"
  })

/** Managed settings with a mistake. */
export const broken = () =>
  world({
    "managed/managed-settings.json": { hooks: { Stopp: [] } },
    "home/.codex/hooks.json": settings("Stop", [{ command: "true" }])
  })

/** A user and a project with the same mistakes. */
export const mistaken = () =>
  world({
    "home/.claude/settings.json": settings("PreToolUse", [{ comand: 1, command: "/no/such.sh" }], "bash"),
    "project/.claude/settings.json": settings("PreToolUse", [{ command: "/no/such.sh" }], "bash"),
    "project/.claude/settings.local.json": { hooks: { Stopp: [], Stop: 1 } }
  })
