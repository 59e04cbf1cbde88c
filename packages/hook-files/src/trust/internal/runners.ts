/** Programs that run the content of a file of the project. This file counts as a script. */

export interface Runner {
  /** Default names of the file. */
  readonly files: ReadonlyArray<string>
  /** Options with the name of the file. */
  readonly option?: RegExp
  /** With one of these words, the program does not run the file. */
  readonly looks?: RegExp
  /** A command follows this word. */
  readonly wraps?: RegExp
}

const packages = ["package.json", ".npmrc"]
const python: Runner = { files: ["pyproject.toml", "uv.toml"], wraps: /^run$/ }

const table: { readonly [name: string]: Runner } = {
  make: { files: ["GNUmakefile", "makefile", "Makefile"], option: /^(?:-f|--file|--makefile)$/ },
  just: { files: ["justfile", "Justfile", ".justfile"], option: /^(?:-f|--justfile)$/ },
  task: {
    files: [
      "Taskfile.yml",
      "Taskfile.yaml",
      "taskfile.yml",
      "taskfile.yaml",
      "Taskfile.dist.yml",
      "Taskfile.dist.yaml"
    ],
    option: /^(?:-t|--taskfile)$/
  },
  npm: { files: packages },
  pnpm: { files: [...packages, ".pnpmfile.cjs", "pnpm-workspace.yaml"] },
  yarn: { files: [...packages, ".yarnrc", ".yarnrc.yml"] },
  bun: { files: [...packages, "bunfig.toml"] },
  deno: { files: ["deno.json", "deno.jsonc"], option: /^(?:-c|--config)$/ },
  uv: python,
  poetry: python,
  pdm: python,
  hatch: python,
  rye: python,
  poe: python,
  pipenv: { files: ["Pipfile"], wraps: /^run$/ },
  rake: { files: ["Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb"], option: /^(?:-f|--rakefile)$/ },
  bundle: { files: ["Gemfile"] },
  invoke: { files: ["tasks.py"], option: /^(?:-c|--collection)$/ },
  nox: { files: ["noxfile.py"], option: /^(?:-f|--noxfile)$/ },
  tox: { files: ["tox.ini"], option: /^-c$/ },
  composer: { files: ["composer.json"] },
  cargo: { files: ["Cargo.toml", "build.rs"] },
  gradle: {
    files: ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"],
    option: /^(?:-b|-I|--init-script)$/
  },
  mvn: { files: ["pom.xml"], option: /^(?:-f|--file)$/ },
  mise: { files: ["mise.toml", ".mise.toml"], wraps: /^(?:exec|x|--)$/ },
  lefthook: { files: ["lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".lefthook.yaml"] },
  "pre-commit": { files: [".pre-commit-config.yaml"], option: /^(?:-c|--config)$/ },
  "docker compose": {
    files: ["compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml", "docker-compose.override.yml"],
    option: /^(?:-f|--file)$/,
    looks: /^(?:config|events|images|logs|ls|port|ps|stats|top|version|volumes)$/
  }
}

const others: { readonly [name: string]: string } = {
  gmake: "make",
  inv: "invoke",
  "go-task": "task",
  gradlew: "gradle",
  mvnw: "mvn",
  "docker-compose": "docker compose",
  "podman-compose": "docker compose"
}

export const runnerOf = (name: string, rest: ReadonlyArray<string>): Runner | undefined => {
  const full = /^(?:docker|podman|nerdctl)$/.test(name) && rest.includes("compose")
    ? "docker compose"
    : others[name] ?? name
  return Object.hasOwn(table, full) ? table[full] : undefined
}

/**
 * The files that a task runner reads by its options or by default, and the folders in which its options make it search.
 */
export const filesOf = (
  { files, looks, option }: Runner,
  rest: ReadonlyArray<string>
): { readonly files: ReadonlyArray<string>; readonly folders: ReadonlyArray<string> } => {
  if (looks !== undefined && rest.some((word) => looks.test(word))) return { files: [], folders: [] }
  const named = option === undefined ? [] : valuesOf(rest, option)
  return { files: named.length > 0 ? named : files, folders: valuesOf(rest, folder) }
}

const folder = /^(?:-C|-d|--prefix|--cwd|--dir|--directory|--project|--project-directory|--working-directory)$/

/** `--file x`, `--file=x`, `-fx`. */
const valuesOf = (rest: ReadonlyArray<string>, option: RegExp): ReadonlyArray<string> =>
  rest.flatMap((word, index) => {
    const [, name = "", value] = /^(--[\w-]+)=(.+)$/.exec(word) ?? []
    if (value !== undefined) return option.test(name) ? [value] : []
    if (option.test(word)) return rest[index + 1] === undefined ? [] : [rest[index + 1]!]
    return /^-\w[^=-]/.test(word) && option.test(word.slice(0, 2)) ? [word.slice(2)] : []
  })
