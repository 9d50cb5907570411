import { Select as BaseSelect } from '@base-ui/react/select'
import { useId } from 'react'
import { fieldBox, Labelled } from './field.tsx'
import { IconCheck, IconDown } from './icons.tsx'

type SelectChoice<Value extends string> = {
  value: Value
  label: string
  /** What the choice means. */
  beside?: string
  /** Why it cannot be chosen. */
  offBecause?: string
}

type SelectProps<Value extends string> = {
  label: string
  choices: readonly SelectChoice<Value>[]
  value: Value
  onChange: (value: Value) => void
  hint?: string | undefined
  problem?: string | undefined
  isOff?: boolean
  /** The label is there for screen readers alone. */
  isLabelHidden?: boolean
}

export function Select<Value extends string>(props: SelectProps<Value>) {
  const { label, hint, problem, isOff = false, isLabelHidden = false } = props
  const id = useId()
  const face = `${fieldBox({ isWrong: problem !== undefined, isOff })} w-full text-left`
  return (
    <Labelled id={id} label={label} hint={hint} problem={problem} isLabelHidden={isLabelHidden}>
      <Choosing {...props} id={id} face={face} />
    </Labelled>
  )
}

/** A choice at the end of a line, which names what it is of. */
export const SmallSelect = <Value extends string>(props: SelectProps<Value>) => (
  <Choosing
    {...props}
    face="flex h-7 items-center gap-1.5 rounded-base px-2 text-n9 hover:bg-n3 hover:text-n11"
    isNamed
  />
)

function Choosing<Value extends string>(
  props: SelectProps<Value> & { id?: string; face: string; isNamed?: boolean },
) {
  const { label, choices, value, onChange, isOff = false, id, face, isNamed = false } = props
  const shown = choices.find((each) => each.value === value)
  return (
    <BaseSelect.Root
      value={value}
      disabled={isOff}
      onValueChange={(next) => next !== null && onChange(next)}
    >
      <BaseSelect.Trigger
        id={id}
        aria-label={isNamed ? `${label}: ${shown?.label ?? value}` : undefined}
        className={face}
      >
        <span className="flex-1 truncate">{shown?.label ?? value}</span>
        <IconDown className="text-n8" />
      </BaseSelect.Trigger>
      <BaseSelect.Portal>
        <BaseSelect.Positioner alignItemWithTrigger={false} sideOffset={4} className="z-20">
          <BaseSelect.Popup className="max-h-80 min-w-[var(--anchor-width)] overflow-auto rounded-panel border bg-float p-1 shadow-float outline-none">
            {choices.map((each) => (
              <BaseSelect.Item
                key={each.value}
                value={each.value}
                disabled={each.offBecause !== undefined}
                className="flex min-h-7 cursor-default items-center gap-2 rounded-[5px] px-2 whitespace-nowrap outline-none data-[disabled]:text-n8 data-[highlighted]:bg-n4 data-[highlighted]:text-n11"
              >
                <BaseSelect.ItemText>{each.label}</BaseSelect.ItemText>
                <span className="ml-auto pl-6 text-small text-n9">
                  {each.offBecause ?? each.beside}
                </span>
                <BaseSelect.ItemIndicator>
                  <IconCheck className="text-n9" />
                </BaseSelect.ItemIndicator>
              </BaseSelect.Item>
            ))}
          </BaseSelect.Popup>
        </BaseSelect.Positioner>
      </BaseSelect.Portal>
    </BaseSelect.Root>
  )
}
