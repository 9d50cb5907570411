import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'

const program = `
  const [{ restJob }, { startJobs }, { systemClock }] = await Promise.all(process.argv.slice(1).map((file) => import(file)))
  const megabytes = () => Math.round(process.memoryUsage.rss() / 1e6)
  const log = { debug() {}, info() {}, warn: console.error, error: console.error }
  const jobs = startJobs([restJob({ lookMs: 50, looks: 3, busyShare: 0.2, worthBytes: 20e6 })], { clock: systemClock, log })
  const before = megabytes()
  let kept = []
  for (let n = 0; n < 400; n++) kept.push(Array.from({ length: 3000 }, (_, i) => ({ i, n, text: 'x' + i + n })))
  kept = undefined
  const loaded = megabytes()
  // Whatever runs now and then is no work.
  const ticking = setInterval(() => {}, 20)
  const end = Date.now() + 20_000
  while (megabytes() > before + 30 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 50))
  clearInterval(ticking)
  await jobs.stop()
  process.stdout.write(JSON.stringify({ before, loaded, rested: megabytes() }))`

describe('memory at rest', () => {
  it('a process that has come to rest gives back the memory of its work', async () => {
    const files = ['./rest.ts', './jobs.ts', '@steward/base/time.ts']
    const args = [
      '--input-type=module',
      '-e',
      program,
      ...files.map((file) => import.meta.resolve(file)),
    ]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    const { before, loaded, rested } = JSON.parse(stdout) as Record<string, number>
    assert.ok(before && loaded && rested)
    assert.ok(loaded > before + 60, stdout)
    assert.ok(rested <= before + 30, stdout)
  })
})
