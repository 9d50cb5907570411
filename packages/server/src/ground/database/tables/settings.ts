import { table, text } from '../table.ts'

export const settingTables = {
  settings: table({
    rows: 'each',
    key: ['name'],
    columns: {
      name: text(),
      value: text(),
    },
  }),
}
