/** Makes the bucket of a store with the S3 protocol. */
import { bucketFailure, dropBody } from './s3-answers.ts'
import type { Bucket } from './s3-wire.ts'
import { s3Wire } from './s3-wire.ts'

/** The region that has no name in a request. */
const firstRegion = 'us-east-1'

const placed = (region: string): string =>
  `<CreateBucketConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><LocationConstraint>${region}</LocationConstraint></CreateBucketConfiguration>`

/** Returns false where the bucket was there. */
export async function createBucket(bucket: Bucket): Promise<boolean> {
  const wire = s3Wire(bucket)
  const found = await wire.ask({ method: 'GET', query: { 'max-keys': '1' } })
  if (found.statusCode === 200) {
    await dropBody(found)
    return false
  }
  if (found.statusCode !== 404) throw await bucketFailure(found, 'its bucket could not be listed')
  await dropBody(found)
  const { region } = bucket
  const body = region === firstRegion ? undefined : Buffer.from(placed(region))
  const made = await wire.ask({ method: 'PUT', ...(body && { body }) })
  if (made.statusCode !== 200) throw await bucketFailure(made, 'its bucket could not be made')
  await dropBody(made)
  return true
}
