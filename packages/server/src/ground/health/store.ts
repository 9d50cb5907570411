import type { Queries } from '../database/database.ts'

export const settingStore = (tx: Queries) => ({
  put: (name: string, value: string) =>
    tx
      .insertInto('settings')
      .values({ name, value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute(),
})
