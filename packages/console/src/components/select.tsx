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
  hint?: string
  isOff?: boolean
}

export function Select<Value extends string>(props: SelectProps<Value>) {
  const { label, choices, value, onChange, hint, isOff = false } = props
  const id = useId()
  const shown = choices.find((each) => each.value === value)
  return (
    <Labelled id={id} label={label} hint={hint}>
      <BaseSelect.Root
        value={value}
        disabled={isOff}
        onValueChange={(next) => next !== null && onChange(next)}
      >
        <BaseSelect.Trigger id={id} className={`${fieldBox({ isOff })} w-full text-left`}>
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
    </Labelled>
  )
}
