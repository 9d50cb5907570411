import { z } from 'zod'
import { parseJsonSetting } from '@steward/protocol/json-setting.ts'

const word = z.string().min(1)
const origin = z.string().refine((text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url?.pathname === '/' && !url.search && !url.username && !url.password
  return isPlain && /^https?:$/.test(url.protocol)
}, 'must be an http or https URL without a path and without credentials')

const Disk = z.strictObject({ type: z.literal('disk'), dir: word })
const S3 = z.strictObject({
  type: z.literal('s3'),
  endpoint: origin,
  bucket: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'is no name of a bucket'),
  region: word,
  access_key_id: word,
  secret_access_key: word,
  prefix: z
    .string()
    .max(256)
    .regex(/^([\w-][\w.-]*(\/[\w-][\w.-]*)*)?$/, 'takes letters, digits, _ - . and / between them')
    .default(''),
  path_style: z.boolean().default(true),
})

/** The value of the setting. Without `blobs`, the server stores blobs in a folder below DATA_DIR. */
const StoreBackends = z.strictObject({
  blobs: z.discriminatedUnion('type', [Disk, S3], 'must be disk or s3').optional(),
  /** True when the outputs of sessions are published as files. */
  outputs: z.boolean().default(true),
})

/** For editors of settings files. */
export const storeBackendsSchema = () =>
  z.toJSONSchema(StoreBackends, { io: 'input', target: 'draft-7' })

/** Where blobs are: a folder or a bucket. */
export type BlobBackend = NonNullable<z.infer<typeof StoreBackends>['blobs']>

export const parseStoreBackends = (text: string): z.output<typeof StoreBackends> =>
  parseJsonSetting(StoreBackends, text)
