/** Loaded before the test files of a process. */
import { readFileSync } from 'node:fs'
import { after } from 'node:test'
import { resolveOwnFilesByName } from '../../packages/base/src/own-imports.ts'

/** The time in which a process has to end by itself after its last test. */
const endSeconds = 20

resolveOwnFilesByName()

/** A connection, a timer or a program that a test leaves open keeps its file from the end. */
// oxlint-disable-next-line steward/no-root-hook -- it is for all tests of the process
after(() => {
  setTimeout(() => {
    const open = process.getActiveResourcesInfo().join(', ')
    console.error(
      `the tests have ended ${endSeconds} seconds ago, and the process has not: ${open}`,
    )
    process.exit(1)
  }, endSeconds * 1000).unref()
})

/** Programs that a failed test leaves behind would run on beside the next files. */
process.on('exit', () => {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim()
  for (const pid of children.split(' ').filter(Boolean).map(Number)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
})
