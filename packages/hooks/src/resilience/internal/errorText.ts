/** Removes what a model does not need from error texts. */

/**
 * Removes stack traces and, if the working folder is given, shortens absolute paths. All patterns take linear time.
 */
export const cleanErrorText = (
  error: string,
  options: { readonly hideStacks: boolean; readonly cwd: string | undefined }
): string => {
  const text = options.hideStacks ? withoutStack(error) : error
  return options.cwd === undefined ? text : withoutPaths(text, options.cwd)
}

const frame =
  /^\s*at \S.*(?:\)|:\d+)\s*$|^\s*at (?:async )?<anonymous>\s*$|^\s*\.{3} \d+ more\s*$|^\s*File "[^"]*", line \d+/
const traceback = /^\s*Traceback \(most recent call last\):\s*$/

const withoutStack = (error: string): string => {
  const lines = error.split("\n")
  const kept = lines.filter((line, index) => {
    if (frame.test(line) || traceback.test(line)) return false
    // Python shows the code of a frame, indented, below it.
    return !(index > 0 && /^\s*File "/.test(lines[index - 1]!) && /^\s{4}/.test(line))
  })
  const text = kept.join("\n").trimEnd()
  return text.trim() === "" ? lines[0]!.trim() : text
}

const posix = /(?<![\w.\-/:~@])(?:file:\/\/)?\/(?:[\w.@+~-]+\/)+([\w.@+~-]*)/g
const windows = /(?<![\w])[A-Za-z]:\\(?:[^\\/:*?"<>|\s]+\\)*([^\\/:*?"<>|\s]*)/g

const withoutPaths = (error: string, cwd: string): string => {
  const here = cwd.length > 1
    ? error.replaceAll(`file://${cwd}/`, "./").replaceAll(`${cwd}/`, "./").replaceAll(`${cwd}\\`, ".\\")
    : error
  return here.replace(posix, ".../$1").replace(windows, "...\\$1")
}
