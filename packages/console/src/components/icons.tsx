/** The icons of the console, in its one size and weight. */
import {
  Bot,
  Box,
  Check,
  ChevronDown,
  ChevronRight,
  ChevronUp,
  ChevronsUpDown,
  Copy,
  Contrast,
  Ellipsis,
  File,
  Hexagon,
  House,
  Lock,
  Menu as MenuLines,
  NotebookText,
  PanelLeft,
  Paperclip,
  Search,
  Settings,
  Star,
  Text,
  TriangleAlert,
  X,
} from 'lucide-react'
import type { LucideIcon } from 'lucide-react'

const sized = (Icon: LucideIcon) =>
  function SizedIcon({ className = '' }: { className?: string }) {
    return (
      <Icon size={15} strokeWidth={1.6} aria-hidden="true" className={`shrink-0 ${className}`} />
    )
  }

export const IconAgents = sized(Bot)
export const IconEnvironments = sized(Box)
export const IconAttach = sized(Paperclip)
export const IconCheck = sized(Check)
export const IconDown = sized(ChevronDown)
export const IconUp = sized(ChevronUp)
export const IconRight = sized(ChevronRight)
export const IconChoose = sized(ChevronsUpDown)
export const IconCopy = sized(Copy)
export const IconMore = sized(Ellipsis)
export const IconTheme = sized(Contrast)
export const IconMenu = sized(MenuLines)
export const IconFold = sized(PanelLeft)
export const IconFiles = sized(File)
export const IconModels = sized(Hexagon)
export const IconSearch = sized(Search)
export const IconHome = sized(House)
export const IconSettings = sized(Settings)
export const IconSessions = sized(Text)
export const IconMemory = sized(NotebookText)
export const IconSkills = sized(Star)
export const IconVaults = sized(Lock)
export const IconWarning = sized(TriangleAlert)
export const IconClose = sized(X)
