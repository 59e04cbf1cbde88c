/** Repositories that change what runs after somebody trusted them. */
import type * as HookFiles from "@belay/hook-files/HookFiles"
import { chmodSync } from "node:fs"

interface World {
  readonly root: string
  /** What is opened. */
  readonly repo: string
  readonly home: string
  /** Somewhere else that the user trusts, with the same settings. */
  readonly trusted: string
  /** A line of shell that must never run. */
  readonly evil: string
  readonly file: (path: string, content: string | object) => string
}

export interface Case {
  readonly build: (world: World) => void
  /** What happens after the user trusted the repository as it was built: then nothing of it may run any more. */
  readonly later?: (world: World) => void
  /** What was trusted is as it was, so what was loaded before goes on. */
  readonly goesOn?: ReadonlyArray<string>
  /** The folder that is opened, below the repository. */
  readonly at?: string
  readonly options?: (world: World) => HookFiles.Options
}

export const hooks = (line: string, event = "PreToolUse", more: object = {}) => ({
  hooks: { [event]: [{ hooks: [{ type: "command", command: line, ...more }] }] }
})

export const settings = ".claude/settings.json"

export const kodelet = (evil: string) => `#!/bin/sh\n${evil}\n[ "$1" = hook ] && echo before_tool_call\n`

/** Each changes one kind of file that a decision is about. */
export const changes: { readonly [name: string]: Case } = {
  "a module beside a script that was changed": {
    build: ({ file }) => {
      file(settings, hooks("python3 tools/guard.py"))
      file("tools/guard.py", "import lib.helper")
      file("tools/lib/helper.py", "")
    },
    later: ({ evil, file }) => file("tools/lib/helper.py", `import os\nos.system(${JSON.stringify(evil)})`)
  },
  "a module that came beside a script": {
    build: ({ file }) => {
      file(settings, hooks("python3 tools/guard.py"))
      file("tools/guard.py", "import json")
    },
    later: ({ evil, file }) => file("tools/json.py", `import os\nos.system(${JSON.stringify(evil)})`)
  },
  "a module that a line imports": {
    build: ({ file }) => file(settings, hooks("python3 -c 'import json'")),
    later: ({ evil, file }) => file("json.py", `import os\nos.system(${JSON.stringify(evil)})`)
  },
  "a package that is installed beside a script": {
    build: ({ file }) => {
      file(settings, hooks("node .claude/hooks/guard.mjs"))
      file(".claude/hooks/guard.mjs", "import 'dep'")
      file(".claude/hooks/node_modules/dep/package.json", { main: "index.js" })
      file(".claude/hooks/node_modules/dep/index.js", "")
    },
    later: ({ evil, file }) =>
      file(".claude/hooks/node_modules/dep/index.js", `require("node:child_process").execSync(${JSON.stringify(evil)})`)
  },
  "a package that says where its imports are": {
    build: ({ file }) => {
      file(settings, hooks("node .claude/hooks/guard.js"))
      file(".claude/hooks/guard.js", "require('#lib')")
      file("package.json", { imports: { "#lib": "./lib.js" } })
    },
    later: ({ evil, file }) => {
      file("package.json", { imports: { "#lib": "./evil.js" } })
      file("evil.js", `require("node:child_process").execSync(${JSON.stringify(evil)})`)
    }
  },
  "a file that is sourced, whatever its name": {
    build: ({ file }) => {
      file(settings, hooks(". ./.env"))
      file(".env", "")
    },
    later: ({ evil, file }) => file(".env", evil)
  },
  "a file that a shell reads first": {
    build: ({ file }) => {
      file(settings, hooks("BASH_ENV=./start.txt bash -c true"))
      file("start.txt", "")
    },
    later: ({ evil, file }) => file("start.txt", evil)
  },
  "a makefile that was changed": {
    build: ({ file }) => {
      file(settings, hooks("make -f hooks.mk guard"))
      file("hooks.mk", "guard:\n\ttrue\n")
    },
    later: ({ evil, file }) => file("hooks.mk", `guard:\n\t${evil}\n`)
  },
  "scripts of a package that were changed": {
    build: ({ file }) => {
      file(settings, hooks("npm run guard"))
      file("package.json", { scripts: { guard: "true" } })
    },
    later: ({ evil, file }) => file("package.json", { scripts: { guard: evil } })
  },
  "a configuration that is code": {
    build: ({ file }) => {
      file(settings, hooks("npx --no-install eslint --config eslint.config.js src"))
      file("eslint.config.js", "")
    },
    later: ({ evil, file }) =>
      file("eslint.config.js", `require("node:child_process").execSync(${JSON.stringify(evil)})`)
  },
  "data that became executable": {
    build: ({ file }) => {
      file(settings, hooks("sh .claude/hooks/all.sh"))
      file(".claude/hooks/all.sh", "for f in .claude/hooks/*; do [ -x $f ] && $f; done")
      file(".claude/hooks/notes.txt", "")
    },
    later: ({ evil, file }) => chmodSync(file(".claude/hooks/notes.txt", `#!/bin/sh\n[ "$1" ] || ${evil}`), 0o755)
  },
  "a script of a skill that was changed": {
    build: ({ file }) => {
      file(
        ".claude/skills/main/SKILL.md",
        "---\nname: main\nhooks:\n  PreToolUse:\n    - hooks:\n        - type: command\n          command: sh .claude/skills/main/x.sh\n---\n"
      )
      file(".claude/skills/main/x.sh", "")
    },
    later: ({ evil, file }) => file(".claude/skills/main/x.sh", evil)
  },
  "a script of a plugin that was changed": {
    build: ({ file }) => {
      file("plugin/hooks/hooks.json", hooks("sh \"${CLAUDE_PLUGIN_ROOT}/scripts/x.sh\""))
      file("plugin/scripts/x.sh", "")
    },
    later: ({ evil, file }) => file("plugin/scripts/x.sh", evil),
    options: () => ({ sources: ["claude", { plugin: "plugin" }] })
  },
  "hooks of a plugin that its manifest names, which were changed": {
    build: ({ file }) => {
      file("plugin/.claude-plugin/plugin.json", { hooks: "./more.json" })
      file("plugin/more.json", hooks("true"))
    },
    later: ({ evil, file }) => file("plugin/more.json", hooks(evil)),
    options: () => ({ sources: ["claude", { plugin: "plugin" }] })
  },
  "a script that Copilot runs elsewhere, which was changed": {
    build: ({ file }) => {
      file(".github/hooks/x.json", {
        version: 1,
        hooks: { preToolUse: [{ type: "command", bash: "sh x.sh", cwd: "tools" }] }
      })
      file("tools/x.sh", "")
    },
    later: ({ evil, file }) => file("tools/x.sh", evil)
  },
  "a library of an executable of Kodelet that was changed": {
    build: ({ file }) => {
      chmodSync(file(".kodelet/hooks/guard", kodelet(". .kodelet/hooks/lib.sh")), 0o755)
      file(".kodelet/hooks/lib.sh", "")
    },
    later: ({ evil, file }) => file(".kodelet/hooks/lib.sh", evil)
  },
  "a script of Base Coat that was changed": {
    build: ({ file }) => {
      file("hooks.json", { version: 1, hooks: { PreToolUse: [{ command: "sh hooks/x.sh", priority: 1 }] } })
      file("hooks/x.sh", "")
    },
    later: ({ evil, file }) => file("hooks/x.sh", evil)
  }
}
