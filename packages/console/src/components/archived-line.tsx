import { words } from '../lib/words.ts'
import { Check } from './choices.tsx'
import { ToolLine } from './layout.tsx'

/** Above a list: whether it shows what is archived. */
export const ArchivedLine = ({
  isOn,
  onChange,
}: {
  isOn: boolean
  onChange: (isOn: boolean) => void
}) => (
  <ToolLine>
    <Check label={words.archivedToo} isOn={isOn} onChange={onChange} />
  </ToolLine>
)
