import type { Databases } from '../database/database.ts'
import { systemClock } from '@steward/base/time.ts'
import type { BlobKeeping } from './blob-keeping.ts'
import { blobKeeping } from './blob-keeping.ts'

const never = () => Promise.reject(new Error('never called'))

/** For what is built and not asked for bytes. */
export const unusedKeeping = (databases: Databases): BlobKeeping =>
  blobKeeping({
    databases,
    clock: systemClock,
    holders: [],
    blobs: {
      put: never,
      get: never,
      head: never,
      delete: never,
      deleteBelow: never,
      list: () => {
        throw new Error('never called')
      },
    },
  })
