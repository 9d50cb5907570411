/** A field with words to choose from. With `isFree`, any other word can be written as well. */
import { Autocomplete } from '@base-ui/react/autocomplete'
import { Combobox as BaseCombobox } from '@base-ui/react/combobox'
import { useId } from 'react'
import { fieldBox, Labelled } from './field.tsx'
import { IconDown } from './icons.tsx'

export type ComboChoice = {
  value: string
  label: string
  /** What the choice means. */
  beside?: string
}

type ComboboxProps = {
  label: string
  choices: readonly ComboChoice[]
  value: string
  onChange: (value: string) => void
  placeholder?: string
  hint?: string | undefined
  problem?: string | undefined
  isFree?: boolean
  /** The label is there for screen readers alone. */
  isLabelHidden?: boolean
  /** What to say where no choice has these letters. */
  none: string
}

const popup =
  'max-h-80 w-[max(var(--anchor-width),260px)] overflow-auto rounded-panel border bg-float p-1 shadow-float outline-none'
const item =
  'flex min-h-7 cursor-default items-center gap-2 rounded-[5px] px-2 outline-none data-[highlighted]:bg-n4 data-[highlighted]:text-n11'
/** Rows that are made at once: who wants another one writes a letter more. */
const mostShown = 80

const inputOf = ({ placeholder, problem, hint }: ComboboxProps, id: string) => ({
  id,
  placeholder,
  spellCheck: false,
  'aria-invalid': problem !== undefined,
  'aria-describedby': (problem ?? hint) === undefined ? undefined : `${id}-about`,
  className: 'min-w-0 flex-1 bg-transparent py-1 outline-none',
})

const Row = ({ choice: { label, beside } }: { choice: ComboChoice }) => (
  <>
    <span className="min-w-0 truncate">{label}</span>
    {beside !== undefined && (
      <span className="ml-auto shrink-0 pl-6 text-small text-n9">{beside}</span>
    )}
  </>
)

export const Combobox = (props: ComboboxProps) =>
  props.isFree ? <FreeField {...props} /> : <ChoiceField {...props} />

function FreeField(props: ComboboxProps) {
  const { label, choices, value, onChange, hint, problem } = props
  const id = useId()
  return (
    <Labelled id={id} label={label} hint={hint} problem={problem}>
      <Autocomplete.Root
        items={choices}
        value={value}
        onValueChange={onChange}
        itemToStringValue={(choice: ComboChoice) => choice.value}
        limit={mostShown}
        openOnInputClick
      >
        <span className={fieldBox({ isWrong: problem !== undefined })}>
          <Autocomplete.Input {...inputOf(props, id)} />
          <IconDown className="text-n8" />
        </span>
        <Autocomplete.Portal>
          <Autocomplete.Positioner sideOffset={4} className="z-20">
            <Autocomplete.Popup className={popup}>
              <Autocomplete.List>
                {(choice: ComboChoice) => (
                  <Autocomplete.Item key={choice.value} value={choice} className={item}>
                    <Row choice={choice} />
                  </Autocomplete.Item>
                )}
              </Autocomplete.List>
            </Autocomplete.Popup>
          </Autocomplete.Positioner>
        </Autocomplete.Portal>
      </Autocomplete.Root>
    </Labelled>
  )
}

function ChoiceField(props: ComboboxProps) {
  const { label, choices, value, onChange, hint, problem, none } = props
  const { isLabelHidden = false } = props
  const id = useId()
  return (
    <Labelled id={id} label={label} hint={hint} problem={problem} isLabelHidden={isLabelHidden}>
      <BaseCombobox.Root
        items={choices}
        value={choices.find((each) => each.value === value) ?? null}
        onValueChange={(choice: ComboChoice | null) => choice && onChange(choice.value)}
        isItemEqualToValue={(one: ComboChoice, other: ComboChoice) => one.value === other.value}
        limit={mostShown}
        autoHighlight
      >
        <span className={fieldBox({ isWrong: problem !== undefined })}>
          <BaseCombobox.Input {...inputOf(props, id)} />
          <IconDown className="text-n8" />
        </span>
        <BaseCombobox.Portal>
          <BaseCombobox.Positioner sideOffset={4} className="z-20">
            <BaseCombobox.Popup className={popup}>
              <BaseCombobox.Empty className="px-2 py-1 text-n9 empty:hidden">
                {none}
              </BaseCombobox.Empty>
              <BaseCombobox.List>
                {(choice: ComboChoice) => (
                  <BaseCombobox.Item key={choice.value} value={choice} className={item}>
                    <Row choice={choice} />
                  </BaseCombobox.Item>
                )}
              </BaseCombobox.List>
            </BaseCombobox.Popup>
          </BaseCombobox.Positioner>
        </BaseCombobox.Portal>
      </BaseCombobox.Root>
    </Labelled>
  )
}
