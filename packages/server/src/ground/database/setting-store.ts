/** What the servers of one database keep in it about themselves, by name. */
import type { Queries, Reads } from './database.ts'
import { defineStore } from './store-of.ts'

const settingReads = (db: Reads) => ({
  async get(name: string): Promise<string | undefined> {
    const row = db.selectFrom('settings').select('value').where('name', '=', name)
    return (await row.executeTakeFirst())?.value
  },
})

const settingWrites = (db: Queries) => ({
  put: (name: string, value: string) =>
    db
      .insertInto('settings')
      .values({ name, value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute(),

  /** Keeps the value that is there. */
  putFirst: (name: string, value: string) =>
    db
      .insertInto('settings')
      .values({ name, value })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute(),
})

export const settingStore = defineStore(settingReads, settingWrites)
