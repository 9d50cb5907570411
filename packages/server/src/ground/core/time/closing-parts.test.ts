import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { closeParts } from './closing-parts.ts'
import { jsonLog } from '@steward/base/log.ts'
import { systemClock } from '@steward/base/time.ts'

describe('the parts of a server that ends', () => {
  it('are closed in order, though one throws, one rejects and one never ends; the log names these', async () => {
    const lines: string[] = []
    const closed: string[] = []
    const close = (name: string, more: () => unknown = () => {}) => ({
      name,
      limitMs: 50,
      close: () => {
        closed.push(name)
        return more()
      },
    })
    const parts = [
      close('one'),
      close('throws', () => {
        throw new Error('at once')
      }),
      close('rejects', () => Promise.reject(new Error('later'))),
      close('hangs', () => new Promise(() => {})),
      close('last'),
    ]
    await closeParts(parts, { clock: systemClock, log: jsonLog((line) => lines.push(line)) })
    assert.deepEqual(closed, ['one', 'throws', 'rejects', 'hangs', 'last'])
    const told = lines.map((line) => {
      const { level, part } = JSON.parse(line) as { level: string; part: string }
      return [level, part]
    })
    assert.deepEqual(told, [
      ['error', 'throws'],
      ['error', 'rejects'],
      ['error', 'hangs'],
    ])
    assert.match(lines.join(), /at once.*later.*did not close in time/s)
  })
})
