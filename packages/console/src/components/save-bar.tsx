/** The bar below a form of a thing that is there: how much differs, and what to do with it. */
import { words } from '../lib/words.ts'
import { Button } from './button.tsx'
import { FormBar } from './form-page.tsx'
import { Problem } from './layout.tsx'

type SaveBarProps = {
  /** How many fields differ. */
  count: number
  /** What is said of those that differ. */
  said?: string
  verb?: string
  isBusy: boolean
  offBecause: string | undefined
  problem: string | undefined
  onDiscard: () => void
  onSave: () => void
}

export function SaveBar(props: SaveBarProps) {
  const { count, said = words.form.differ(count), verb = words.form.save } = props
  const { isBusy, offBecause, problem, onDiscard, onSave } = props
  const nothing = count === 0 ? words.form.nothing : undefined
  return (
    <FormBar
      actions={
        <>
          <Button kind="plain" offBecause={nothing} onClick={onDiscard}>
            {words.form.discard}
          </Button>
          <Button
            kind="primary"
            isBusy={isBusy}
            offBecause={offBecause ?? nothing}
            onClick={onSave}
          >
            {verb}
          </Button>
        </>
      }
    >
      <Problem text={problem}>{nothing ?? said}</Problem>
    </FormBar>
  )
}
