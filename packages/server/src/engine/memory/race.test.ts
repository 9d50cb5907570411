import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { shapesOf } from '../../ground/database/shapes-fixture.ts'
import { start as made } from '../../resources/memory-stores/fixture.ts'
import { memoryBench } from './fixture.ts'

const notes = '/mnt/memory/notes'
const rounds = 100

for (const [kind, open] of Object.entries(shapesOf(import.meta.filename))) {
  describe(`two sessions that write to one memory on ${kind}`, () => {
    it('lose nothing in a hundred rounds: each text is in the store, or in a conflict file', async () => {
      await using setup = await memoryBench(open)
      const store = await setup.newStore()
      await store.create(made, { path: '/a', content: '' })
      const both = [
        await setup.start(await setup.session(store)),
        await setup.start(await setup.session(store)),
      ]
      await Promise.all(both.map((running) => running.call(`cd ${notes}`)))
      let conflicts = 0
      for (let round = 0; round < rounds; round++) {
        // Both start at the same time, so that either may be first.
        const order = round % 2 === 0 ? both : both.toReversed()
        const calls = order.map((running) => {
          const text = `round ${round} of ${both.indexOf(running)}`
          return running.call(round % 3 === 0 ? `echo "${text}" >>a` : `echo "${text}" >a`)
        })
        for (const { told } of await Promise.all(calls)) if (told.includes('conflict')) conflicts++
      }
      const kept = (await store.versions()).map(({ content }) => content ?? '').join('\n')
      const aside = await Promise.all(
        both.map(({ shell }) => shell('cat /workspace/.steward/conflicts/*/notes/a 2>/dev/null')),
      )
      const all = [kept, ...aside].join('\n').split('\n')
      for (let round = 0; round < rounds; round++)
        for (const own of [0, 1])
          assert.ok(all.includes(`round ${round} of ${own}`), `round ${round} of ${own}`)
      assert.ok(conflicts >= rounds / 4, `${conflicts} conflicts`)
      for (const running of both) await running.call('true')
      const { '/a': now } = await setup.held(store.id)
      for (const { shell } of both) assert.equal(await shell('cat a'), now)
    })
  })
}
