import type { ChildProcess } from 'node:child_process'

/**
 * Call on the child that `spawn` has just returned. Throws when the process was out of files: the child then has no
 * streams, and reading one would throw before anybody hears its error, which ends the process.
 */
export function expectStarted<Child extends ChildProcess>(child: Child): Child {
  child.on('error', () => {})
  if (child.pid === undefined && !Array.isArray(child.stdio))
    throw new Error(`${child.spawnfile} cannot be started: this process has no files left to open`)
  return child
}
