/** Fields in a line that are added together, by the button or by enter. */
import type { ReactNode } from 'react'
import { Button } from './button.tsx'

type AddLineProps = {
  /** A verb and its object. */
  verb: string
  /** Why there is nothing to add yet. */
  offBecause?: string | undefined
  onAdd: () => void
  children: ReactNode
}

export const AddLine = ({ verb, offBecause, onAdd, children }: AddLineProps) => (
  <form
    noValidate
    onSubmit={(event) => {
      event.preventDefault()
      if (offBecause === undefined) onAdd()
    }}
    // What was typed and not added is not lost when the form is sent.
    onBlur={({ currentTarget, relatedTarget }) => {
      const isInside = relatedTarget instanceof Node && currentTarget.contains(relatedTarget)
      if (!isInside && offBecause === undefined) onAdd()
    }}
    className="flex items-start gap-2 max-phone:flex-wrap"
  >
    <div className="flex min-w-0 flex-1 gap-2 max-phone:basis-full max-phone:flex-wrap [&>*]:min-w-0 [&>*]:flex-1">
      {children}
    </div>
    <span className="flex h-[30px] items-center">
      <Button type="submit" offBecause={offBecause}>
        {verb}
      </Button>
    </span>
  </form>
)
