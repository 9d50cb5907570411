import type { Databases } from '../database/database.ts'
import { systemClock } from '@steward/base/time.ts'
import type { Keeping } from './keeping.ts'
import { blobKeeping } from './keeping.ts'

const never = () => Promise.reject(new Error('never called'))

/** For what is built and not asked for bytes. */
export const unusedKeeping = (databases: Databases): Keeping =>
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
