import type { Databases } from '../database/database.ts'
import { systemClock } from '@steward/base/time.ts'
import type { BlobKeeping } from './blob-keeping.ts'
import { blobKeeping } from './blob-keeping.ts'

const never = () => Promise.reject(new Error('never called'))

/** A keeping for parts whose test reads and writes no blob. */
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
