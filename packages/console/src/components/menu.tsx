import { Menu as BaseMenu } from '@base-ui/react/menu'
import type { ReactNode } from 'react'
import { buttonLook } from './button.tsx'
import { IconCheck } from './icons.tsx'

export type MenuItem =
  | {
      label: string
      beside?: ReactNode
      isChosen?: boolean
      /** It is on or off, and the menu stays open. */
      isChecked?: boolean
      isDanger?: boolean
      /** Why it is off. */
      offBecause?: string | undefined
      run: () => void
    }
  | 'line'

const row =
  'flex min-h-7 w-full cursor-default items-center gap-2 rounded-[5px] px-2 whitespace-nowrap outline-none data-[highlighted]:bg-n4 data-[highlighted]:text-n11'

const looks = {
  bare: 'min-w-0 flex-1 rounded-base text-left',
  icon: 'grid size-7 shrink-0 place-items-center rounded-base border border-n6 bg-n1 text-n10 hover:bg-n3',
  words: buttonLook('plain', 'small'),
}

/** `trigger` is the face of the button. */
export const Menu = ({
  label,
  trigger,
  items,
  side = 'bottom',
  look = 'bare',
  isOpenAtFirst = false,
}: {
  label: string
  trigger: ReactNode
  items: readonly MenuItem[]
  side?: 'top' | 'bottom'
  /** How the trigger looks: as what it holds, as a button with an icon, as a small button with words. */
  look?: keyof typeof looks
  /** Somebody pressed what stood in its place while it was loaded. */
  isOpenAtFirst?: boolean
}) => (
  <BaseMenu.Root modal={false} defaultOpen={isOpenAtFirst}>
    <BaseMenu.Trigger title={label} className={looks[look]}>
      {trigger}
      {trigger !== label && <span className="sr-only">{label}</span>}
    </BaseMenu.Trigger>
    <BaseMenu.Portal>
      <BaseMenu.Positioner side={side} align="start" sideOffset={4} className="z-20">
        <BaseMenu.Popup className="min-w-[200px] rounded-panel border bg-float p-1 text-n10 shadow-float outline-none">
          {items.map((item, at) => (
            <MenuRow key={item === 'line' ? `line ${at}` : item.label} item={item} />
          ))}
        </BaseMenu.Popup>
      </BaseMenu.Positioner>
    </BaseMenu.Portal>
  </BaseMenu.Root>
)

function MenuRow({ item }: { item: MenuItem }) {
  if (item === 'line') return <BaseMenu.Separator className="-mx-1 my-1 border-t" />
  const { label, beside, isChosen, isChecked, isDanger, offBecause, run } = item
  if (isChecked !== undefined)
    return (
      <BaseMenu.CheckboxItem checked={isChecked} onCheckedChange={run} className={row}>
        <span className="grid w-4 place-items-center">
          <BaseMenu.CheckboxItemIndicator>
            <IconCheck className="text-n11" />
          </BaseMenu.CheckboxItemIndicator>
        </span>
        <span className="truncate">{label}</span>
        <span className="ml-auto pl-4 text-small text-n9">{beside}</span>
      </BaseMenu.CheckboxItem>
    )
  return (
    <BaseMenu.Item
      onClick={run}
      disabled={offBecause !== undefined}
      title={offBecause}
      className={`${row} ${isDanger ? 'text-failed' : ''} data-[disabled]:text-n8`}
    >
      <span className="truncate">{label}</span>
      <span className="ml-auto pl-4 text-small text-n9">{offBecause ?? beside}</span>
      {isChosen === true && <IconCheck className="text-n9" />}
    </BaseMenu.Item>
  )
}
