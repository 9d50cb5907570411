import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { lengthOf, scaleOf, shareAt, wholeTurn } from './timeline-scale.ts'

void describe('the scale of a turn', () => {
  void it('gives markers a fixed width, and work the rest', () => {
    const scale = scaleOf([0.5], wholeTurn, 0)
    assert.equal(lengthOf(scale, { share: 0.5, markers: 0 }), 'calc((100% - 38px) * 0.50000 + 0px)')
    assert.equal(
      lengthOf(scale, { share: 0.5, markers: 1 }),
      'calc((100% - 38px) * 0.50000 + 38px)',
    )
  })

  void it('makes markers narrow where there are many', () => {
    assert.equal(scaleOf([0.1, 0.2, 0.3, 0.4], wholeTurn, 0).markerPx, 19)
  })

  void it('shows a part alone, with the markers in it', () => {
    const scale = scaleOf([0.1, 0.5], { from: 0.4, to: 0.6 }, 0)
    assert.deepEqual([scale.before, scale.markers], [1, 1])
    assert.equal(
      lengthOf(scale, { share: 0.5, markers: 2 }),
      'calc((100% - 38px) * 0.50000 + 38px)',
    )
  })

  void it('finds the share under a pointer, before, on and behind a marker', () => {
    const idle = [0.5]
    const scale = scaleOf(idle, wholeTurn, 0)
    const at = (distance: number) => shareAt(scale, idle, distance, 138)
    assert.deepEqual([at(25), at(60), at(138 - 25)], [0.25, 0.5, 0.75])
  })
})
