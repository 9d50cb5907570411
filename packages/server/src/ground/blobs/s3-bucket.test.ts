import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createBucket } from './s3-bucket.ts'
import { answerStatus, servedBucket, startInFrontOf } from './s3-fixture.ts'
import { s3Blobs } from './s3.ts'

describe('a bucket that is made', () => {
  let store: Awaited<ReturnType<typeof servedBucket>>
  before(async () => {
    store = await servedBucket()
  })
  after(() => store.close())

  for (const region of ['us-east-1', 'eu-central-1'])
    it(`can be listed, and is not made again: ${region}`, async () => {
      const bucket = { ...store.bucket, bucket: `made-in-${region}`, region }
      await assert.rejects(s3Blobs({ ...bucket, prefix: '' }), /NoSuchBucket/)
      assert.equal(await createBucket(bucket), true)
      await s3Blobs({ ...bucket, prefix: '' })
      assert.equal(await createBucket(bucket), false)
    })

  it('is not made where the store refuses the key', async () => {
    await using front = await startInFrontOf(store.bucket, () => answerStatus(403))
    await assert.rejects(createBucket(front.bucket), /blob store answered 403/)
    assert.deepEqual(front.seen, ['GET /steward-test/?max-keys=1'])
  })
})
