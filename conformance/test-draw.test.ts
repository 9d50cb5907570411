/** `npm test` ends in time on any machine, says what it left, and comes to every file from commit to commit. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Costs } from '../scripts/test-costs.ts'
import { readCosts } from '../scripts/test-costs.ts'
import { drawAnother, drawFiles, lightSeconds, roomOn } from '../scripts/test-draw.ts'

const light = Array.from({ length: 40 }, (_, at) => `light-${at}.test.ts`)
const heavy = Array.from({ length: 20 }, (_, at) => `heavy-${at}.test.ts`)
const files = [...heavy, ...light]
const costs: Costs = {
  of: (file) => ({ seconds: 1, computed: file.startsWith('light') ? 1 : lightSeconds * 2 }),
  average: { seconds: 1, computed: 1 },
  paceMs: 100,
}
const all = light.length + heavy.length * lightSeconds * 2

const draw = (seed: string, room: number, changed: string[] = []) =>
  drawFiles(files, { costs, room, seed, changed: new Set(changed) })

describe('the draw of test files', () => {
  it('is of all files where a machine runs them in time', () => {
    assert.deepEqual(draw('a', all), { files, drawn: [], left: [], seed: 'a' })
  })

  it('has every light file, and heavy ones as far as there is room, each once', () => {
    const { files: some, drawn, left } = draw('a', light.length + 3 * lightSeconds * 2)
    assert.equal(drawn.length, 3)
    assert.deepEqual(some, [...heavy.filter((file) => drawn.includes(file)), ...light])
    assert.deepEqual([...drawn, ...left].toSorted(), heavy.toSorted())
  })

  it('is the same for the same commit, and comes to every file within a hundred', () => {
    const room = light.length + 2 * lightSeconds * 2
    assert.deepEqual(draw('a', room), draw('a', room))
    const seen = new Set(Array.from({ length: 100 }, (_, at) => draw(`c${at}`, room).drawn).flat())
    assert.deepEqual([...seen].toSorted(), heavy.toSorted())
  })

  it('has the files that were changed before others, as far as there is room', () => {
    const changed = ['heavy-7.test.ts', 'heavy-8.test.ts']
    assert.deepEqual(draw('a', light.length + 2 * lightSeconds * 2, changed).drawn, changed)
    assert.equal(draw('a', light.length + lightSeconds * 2, changed).drawn.length, 1)
  })

  it('has the walls between tenants and the ways of secrets, whatever room there is', () => {
    const walls = ['conformance/canary.test.ts', 'conformance/isolation.test.ts']
    const { drawn } = drawFiles([...walls, ...files], {
      ...{ costs, room: 0, seed: 'a', changed: new Set<string>() },
    })
    assert.deepEqual(drawn, walls)
  })

  it('has another file near the end where there is time for it, in the order of turns', () => {
    const { drawn, left } = draw('a', light.length)
    const another = (room: number, elapsedSeconds: number) =>
      drawAnother({ files, drawn, left, seed: 'a' }, { costs, room, elapsedSeconds })
    const [next, after] = left
    assert.equal(another(lightSeconds * 2, 0), next)
    assert.equal(another(lightSeconds, 0), undefined)
    assert.equal(another(lightSeconds * 2, 360), undefined)
    assert.equal(another(lightSeconds * 2, 0), after)
    assert.deepEqual(drawn, [next, after])
    assert.ok(!left.includes(after ?? ''))
  })

  it('has less room on a slower machine, with fewer processors, or when the start took long', () => {
    const machine = { processors: 2, paceMs: 100, elapsedSeconds: 30 }
    const room = roomOn(machine, costs)
    assert.ok(Math.abs(roomOn({ ...machine, paceMs: 200 }, costs) * 2 - room) < 0.01)
    assert.ok(Math.abs(roomOn({ ...machine, processors: 1 }, costs) * 2 - room) < 0.01)
    assert.ok(roomOn({ ...machine, elapsedSeconds: 60 }, costs) < room)
  })

  it('knows the costs of most files of this checkout', () => {
    const { of, average, paceMs } = readCosts()
    assert.ok(paceMs > 0)
    assert.notDeepEqual(of('conformance/isolation.test.ts'), average)
    assert.deepEqual(of('no.test.ts'), average)
  })
})
