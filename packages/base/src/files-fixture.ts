/** For tests: a program that is out of files for a while. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * Runs a module in a process of its own that may open `most` files. `hold(left)` takes all of them but `left`, and
 * returns a function that gives them back. Rejects when the process dies.
 */
export async function runWithFewFiles(
  source: string,
  { most = 256, words = [] as readonly string[] } = {},
): Promise<string> {
  const program = `
    import { closeSync, openSync } from 'node:fs'
    function hold(left) {
      const held = []
      try {
        for (;;) held.push(openSync('/dev/null'))
      } catch {}
      for (let n = 0; n < left; n++) closeSync(held.pop())
      return () => held.splice(0).forEach(closeSync)
    }
    ${source}`
  const node = [process.execPath, '--input-type=module', '--eval', program, '--', ...words]
  const { stdout } = await run('prlimit', [`--nofile=${most}`, ...node])
  return stdout
}
