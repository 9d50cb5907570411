import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const own = (name: string) => JSON.stringify(import.meta.resolve(name))

describe('a failure that nobody waits for', () => {
  it('is logged, and the process goes on', async () => {
    const program = `
      import { jsonLog } from ${own('./log.ts')}
      import { logUnhandledFailures } from ${own('./unhandled-failures.ts')}
      logUnhandledFailures(jsonLog((line) => process.stderr.write(line)))
      void Promise.reject(new Error('EMFILE'))
      setTimeout(() => process.stdout.write('still here'), 20)
    `
    const { stdout, stderr } = await run(process.execPath, [
      '--input-type=module',
      ...['--eval', program],
    ])
    assert.equal(stdout, 'still here')
    const line = JSON.parse(stderr) as { level: string; error: { message: string } }
    assert.deepEqual([line.level, line.error.message], ['error', 'EMFILE'])
  })
})
