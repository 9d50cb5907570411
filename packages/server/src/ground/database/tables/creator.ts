import { nullable, text } from '../table.ts'

/** Who made a row. All null: the row is of before this was kept. */
export const creatorGroup = {
  creator_type: nullable(text()),
  creator_id: nullable(text()),
  creator_name: nullable(text()),
}
