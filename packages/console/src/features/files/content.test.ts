import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isText, largestImage, viewOf } from './content.ts'

void describe('the shown content of a file', () => {
  const of = (mime_type: string, size_bytes = 10) => viewOf({ mime_type, size_bytes })

  void it('is a picture where it can run nothing, and never SVG', () => {
    assert.equal(of('image/png'), 'image')
    assert.equal(of('image/svg+xml'), 'bytes')
    assert.equal(of('text/html'), 'bytes')
    assert.equal(of('image/png', largestImage + 1), 'large')
    assert.equal(of('image/png', 0), 'empty')
  })

  void it('is text where its bytes are, also where a character is cut', () => {
    const bytes = new TextEncoder().encode('grün 🙂')
    assert.ok(isText(bytes))
    assert.ok(isText(bytes.subarray(0, -2)))
    assert.ok(!isText(Uint8Array.of(0x50, 0x4b, 0, 3)))
    assert.ok(!isText(Uint8Array.of(0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0xfa)))
  })
})
