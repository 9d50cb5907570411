import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseStoreBackends } from './blob-backend.ts'

const s3 = {
  type: 's3',
  endpoint: 'https://s3.example',
  bucket: 'blobs',
  region: 'eu-1',
  access_key_id: 'id',
  secret_access_key: 'canary of a secret',
}
const parse = (value: unknown) => parseStoreBackends(JSON.stringify(value)).blobs

describe('the setting of blob stores', () => {
  it('names a folder, or a bucket', () => {
    assert.deepEqual(parse({ blobs: { type: 'disk', dir: './blobs' } }), {
      type: 'disk',
      dir: './blobs',
    })
    assert.deepEqual(parse({ blobs: s3 }), { ...s3, prefix: '', path_style: true })
    assert.equal(parse({}), undefined)
    assert.equal(parseStoreBackends('{}').outputs, true)
    assert.equal(parseStoreBackends('{"outputs":false}').outputs, false)
  })

  it('is refused by the name of what is wrong, without any value', () => {
    const wrong: [unknown, RegExp][] = [
      [[], /must be an object/],
      [{ blob: {} }, /^blob: unknown field$/],
      [{ blobs: { type: 'gcs' } }, /^blobs\.type: must be disk or s3$/],
      [{ blobs: { type: 'disk' } }, /^blobs\.dir: /],
      [{ blobs: { type: 'disk', dir: 'x', bucket: 'y' } }, /^blobs\.bucket: unknown field$/],
      [{ blobs: { ...s3, secret_access_key: 7 } }, /^blobs\.secret_access_key: /],
      [{ blobs: { ...s3, bucket: 'A/b' } }, /^blobs\.bucket: is no name/],
      [
        { blobs: { ...s3, endpoint: 'https://a.example/path' } },
        /^blobs\.endpoint: must be an http/,
      ],
      [{ blobs: { ...s3, endpoint: 'ftp://a.example' } }, /^blobs\.endpoint: .*http/],
      [{ blobs: { ...s3, endpoint: 'canary' } }, /^blobs\.endpoint: must be an http/],
      [{ blobs: { ...s3, endpoint: 'https://u:canary@a.example' } }, /^blobs\.endpoint: must be/],
      [{ blobs: { ...s3, prefix: '/a' } }, /^blobs\.prefix: takes/],
      [{ blobs: { ...s3, prefix: '../a' } }, /^blobs\.prefix: takes/],
    ]
    for (const [value, message] of wrong) {
      assert.throws(
        () => parse(value),
        (error: Error) => {
          assert.match(error.message, message)
          assert.ok(!error.message.includes('canary'))
          return true
        },
      )
    }
    assert.throws(() => parseStoreBackends('{"secret_access_key": "canary'), /^Error: is not JSON$/)
  })
})
