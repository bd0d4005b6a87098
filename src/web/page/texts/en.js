// The page's texts in English.

export default {
  // Links and the clipboard.
  "link.copy": "Copy link",
  "link.copied": "The link is on the clipboard. It holds the game and this position.",
  "link.cut": "This link is incomplete or was changed, so no game was opened.",
  "link.board": "This link is for the board “{board}”, which this program does not have.",
  "link.refused": "This link cannot be opened: {why}",
  "copy.refused": "The browser does not let the page copy.",

  // A new game, and a game that is played on.
  "new.title": "New game",
  "playon.button": "Play on",
  "playon.title": "Play on from here",

  // Settings.
  "settings.title": "Settings",
  "settings.language": "Language",
  "settings.language.auto": "As the browser says",
  "settings.colours": "Colours",
  "settings.colours.auto": "As the system says",
  "settings.colours.light": "Light",
  "settings.colours.dark": "Dark",
  "settings.board": "Board",
  "settings.board.green": "Green",
  "settings.board.blue": "Blue",
  "settings.board.wood": "Wood",
  "settings.board.slate": "Slate",
  "settings.board.contrast": "High contrast",
  "settings.coordinates": "Coordinates",
  "settings.coordinates.on": "Shown",
  "settings.coordinates.off": "Hidden",
  "settings.sound": "Sound of a move",
  "settings.sound.off": "Off",
  "settings.sound.on": "On",

  // Clocks.
  "clock.title": "Clock",
  "clock.0": "No clock",
  "clock.own": "Own times …",
  "clock.each": "{count} minutes each",
  "clock.each.one": "{count} minute each",
  "clock.added": "{minutes} minutes, {seconds} s for each move",
  "clock.unlimited": "A time of 0 minutes is unlimited.",
  "clock.players.mine": "Your minutes",
  "clock.players.mineAdd": "Your seconds for each move",
  "clock.players.theirs": "Minutes of the opponent",
  "clock.players.theirsAdd": "Its seconds for each move",
  "clock.sides.mine": "Minutes of black",
  "clock.sides.mineAdd": "Its seconds for each move",
  "clock.sides.theirs": "Minutes of white",
  "clock.sides.theirsAdd": "Its seconds for each move",

  // Limits and pictures.
  "limit.title": "Search",
  "limit.own": "As the player's settings say",
  "limit.seconds": "{count} seconds for a position",
  "limit.minutes": "{count} minutes for a position",
  "limit.simulations": "{count} simulations (nets)",
  "save.values": "Save a picture with values (PNG)",
};
