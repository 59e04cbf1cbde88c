// Starts a worker, sends it work, and ends it when it hangs.
import { fork } from "node:child_process"
import { chmodSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { temporaryFolder } from "./tree.mjs"

const running = new Set()
process.on("exit", () => running.forEach((child) => killGroup(child)))

const killGroup = (child) => {
  running.delete(child)
  try {
    // The worker leads a group, so that its test processes end with it.
    process.kill(-child.pid, "SIGKILL")
  } catch {
    // It has ended.
  }
}

/** Makes a runner of the tests in a tree. `options` are those of vitest. */
export const makeRunner = (tree, { env = {}, options = {} } = {}) => {
  // Outside of the tree, whose package.json makes every script of node a module. The user of Postgres writes in it too.
  const temporary = temporaryFolder("temp")
  chmodSync(temporary, 0o1777)
  // Shells would otherwise read what the person has configured.
  const home = join(temporary, "home")
  mkdirSync(home)
  let child
  let tests
  // The bug of the run before was removed from its file after that run.
  let changedBefore = []
  const start = async () => {
    child = fork(fileURLToPath(new URL("worker.mjs", import.meta.url)), [JSON.stringify(options)], {
      cwd: tree,
      detached: true,
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      env: { ...process.env, ...env, HOME: home, TMPDIR: temporary }
    })
    running.add(child)
    let errors = ""
    child.stderr.on("data", (data) => errors = (errors + data).slice(-2_000))
    const ready = await answer(child, 60_000)
    if (ready === undefined) throw new Error(`the worker did not start: ${errors}`)
    tests = ready.tests
  }
  const stop = () => {
    if (child !== undefined) killGroup(child)
    child = undefined
  }
  return {
    stop,
    /** The test files of the tree. */
    async tests() {
      if (child === undefined) await start()
      return tests
    },
    /** Runs test files until one fails. Returns what failed, or `undefined` if they took longer than `limitMs`. */
    async run(files, changed, limitMs) {
      if (child === undefined) await start()
      const done = answer(child, limitMs)
      child.send({ tests: files, changed: [...changedBefore, ...changed] })
      changedBefore = changed
      const result = await done
      if (result === undefined) stop()
      return result
    }
  }
}

const answer = (child, limitMs) =>
  new Promise((resolve) => {
    const finish = (message) => {
      clearTimeout(timer)
      child.off("message", finish)
      child.off("exit", ended)
      resolve(message)
    }
    const ended = () => finish(undefined)
    const timer = setTimeout(ended, limitMs)
    child.on("message", finish)
    child.on("exit", ended)
  })
