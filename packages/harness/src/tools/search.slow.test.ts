import assert from 'node:assert/strict'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { describe, it } from 'node:test'
import { openSandbox, say } from './sandbox-fixture.ts'
import { globTool } from './search.ts'

void describe('a glob of deep folders', () => {
  void it('gives other work its turns, and comes to an end', async () => {
    await using setup = await openSandbox()
    const deep = `deep=$(printf 'a/%.0s' {1..2000}); mkdir -p $deep; cd $deep; touch {1..200}`
    await say(setup.sandbox, deep)
    const delays = monitorEventLoopDelay({ resolution: 10 })
    delays.enable()
    const pattern = `**/${'a/'.repeat(490)}b`
    const { signal } = new AbortController()
    const result = await globTool.run(setup.sandbox, { pattern, path: '/workspace' }, signal)
    delays.disable()
    assert.match(JSON.stringify(result), /no matches.*stopped after 2000 ms of matching/)
    assert.ok(delays.max / 1e6 < 2_000, `${delays.max / 1e6} ms`)
  })
})
