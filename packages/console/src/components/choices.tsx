/** Checks, choices and switches: what is on or off at once. */
import { Checkbox } from '@base-ui/react/checkbox'
import { Radio } from '@base-ui/react/radio'
import { RadioGroup } from '@base-ui/react/radio-group'
import { Switch as BaseSwitch } from '@base-ui/react/switch'
import { IconCheck } from './icons.tsx'

type OnOff = { label: string; isOn: boolean; onChange: (isOn: boolean) => void; isOff?: boolean }

export const Check = ({ label, isOn, onChange, isOff = false }: OnOff) => (
  <label className={`inline-flex items-center gap-2 ${isOff ? 'text-n8' : ''}`}>
    <Checkbox.Root
      checked={isOn}
      disabled={isOff}
      onCheckedChange={onChange}
      className="grid size-3.5 shrink-0 place-items-center rounded-[3px] border border-n8 data-[checked]:border-accent data-[checked]:bg-accent data-[checked]:text-on-accent data-[disabled]:border-n6"
    >
      <Checkbox.Indicator>
        <IconCheck className="size-3" />
      </Checkbox.Indicator>
    </Checkbox.Root>
    {label}
  </label>
)

export const Switch = ({ label, isOn, onChange, isOff = false }: OnOff) => (
  <label className={`inline-flex items-center gap-2 ${isOff ? 'text-n8' : ''}`}>
    <BaseSwitch.Root
      checked={isOn}
      disabled={isOff}
      onCheckedChange={onChange}
      className="flex h-4 w-[26px] shrink-0 items-center rounded-full bg-n8 p-0.5 data-[checked]:bg-accent"
    >
      <BaseSwitch.Thumb className="size-3 rounded-full bg-n1 data-[checked]:translate-x-2.5" />
    </BaseSwitch.Root>
    {label}
  </label>
)

export const Choices = <Value extends string>({
  label,
  choices,
  value,
  onChange,
}: {
  label: string
  choices: readonly { value: Value; label: string }[]
  value: Value
  onChange: (value: Value) => void
}) => (
  <RadioGroup
    aria-label={label}
    value={value}
    onValueChange={onChange}
    className="flex flex-wrap gap-3.5"
  >
    {choices.map((each) => (
      <label key={each.value} className="inline-flex items-center gap-2">
        <Radio.Root
          value={each.value}
          className="size-3.5 shrink-0 rounded-full border border-n8 data-[checked]:border-4 data-[checked]:border-accent"
        />
        {each.label}
      </label>
    ))}
  </RadioGroup>
)
