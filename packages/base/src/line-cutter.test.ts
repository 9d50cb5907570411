import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { lineCutter } from './line-cutter.ts'

void describe('lines of a text in pieces', () => {
  void it('are the lines of the text, however it was cut', () => {
    const text = 'one\n\ntwo\nthree'
    for (let size = 1; size <= text.length; size++) {
      const cutter = lineCutter()
      const lines: string[] = []
      for (let at = 0; at < text.length; at += size)
        lines.push(...cutter.read(text.slice(at, at + size)))
      assert.deepEqual([...lines, cutter.rest()], text.split('\n'))
      assert.equal(cutter.waiting(), 5)
    }
  })

  void it('cost twice as much when a line is twice as long', () => {
    const costOf = (pieces: number) => {
      const before = process.cpuUsage()
      const cutter = lineCutter()
      for (let piece = 0; piece < pieces; piece++) cutter.read('0123456789')
      assert.equal(cutter.rest().length, pieces * 10)
      return process.cpuUsage(before).user
    }
    costOf(100_000)
    const ratios: number[] = []
    do {
      const half = costOf(200_000)
      ratios.push(costOf(400_000) / half)
    } while (ratios.length < 5 && Math.min(...ratios) > 3)
    assert.ok(Math.min(...ratios) <= 3, ratios.join(', '))
  })
})
