/** A test file that runs by itself starts a Postgres, beside others that do so at the same moment. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

const module = import.meta.resolve('./postgres-fixture.ts')

/** Prints the URL and the folder of its server, and ends when its input does. */
const program = `const { startPostgres } = await import(${JSON.stringify(module)})
  const server = await startPostgres({ isDurable: false })
  console.log(decodeURIComponent(new URL(server.socketUrl).hostname))
  for await (const _ of process.stdin);
  await server.stop()`

const begin = () =>
  spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'pipe' })

describe('processes that start a Postgres each', () => {
  it('do not touch the folders of the others while these are being made', async () => {
    // The starts are apart, so that one looks for leftovers in the midst of another's start.
    const ends = await Promise.all(
      Array.from({ length: 8 }, async (_, at) => {
        await sleep(at * 100)
        const child = begin()
        child.stdin.end()
        const [[code], problem] = await Promise.all([once(child, 'exit'), text(child.stderr)])
        return [code, problem] as const
      }),
    )
    for (const [code, problem] of ends) assert.equal(code, 0, problem)
  })

  it('remove the folder of a process that was killed', async () => {
    const killed = begin()
    const [piece] = (await once(killed.stdout, 'data')) as [Buffer]
    const folder = piece.toString().trim()
    assert.ok(existsSync(folder))
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    const next = begin()
    next.stdin.end()
    await once(next, 'exit')
    assert.equal(existsSync(folder), false)
  })
})
