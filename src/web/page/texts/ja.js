// The page's texts in Japanese.

export default {
  // Links and the clipboard.
  "link.copy": "リンクをコピー",
  "link.copied": "リンクをコピーしました。棋譜と表示中の局面を含みます。",
  "link.cut": "リンクが途中で切れているか、書き換えられています。棋譜は開いていません。",
  "link.board": "このリンクの盤「{board}」は、このプログラムにはありません。",
  "link.refused": "このリンクは開けません: {why}",
  "copy.refused": "ブラウザーがコピーを許可していません。",

  // A new game, and a game that is played on.
  "new.title": "新規対局",
  "playon.button": "ここから対局",
  "playon.title": "この局面から対局",

  // Settings.
  "settings.title": "設定",
  "settings.language": "言語",
  "settings.language.auto": "ブラウザーに合わせる",
  "settings.colours": "画面の配色",
  "settings.colours.auto": "システムに合わせる",
  "settings.colours.light": "ライト",
  "settings.colours.dark": "ダーク",
  "settings.board": "盤の色",
  "settings.board.green": "緑",
  "settings.board.blue": "青",
  "settings.board.wood": "木目",
  "settings.board.slate": "グレー",
  "settings.board.contrast": "ハイコントラスト",
  "settings.coordinates": "座標",
  "settings.coordinates.on": "表示する",
  "settings.coordinates.off": "表示しない",
  "settings.sound": "着手音",
  "settings.sound.off": "オフ",
  "settings.sound.on": "オン",

  // Clocks.
  "clock.title": "持ち時間",
  "clock.0": "なし",
  "clock.own": "個別に設定…",
  "clock.each": "各{count}分",
  "clock.added": "各{minutes}分、1手ごとに{seconds}秒加算",
  "clock.unlimited": "0分は無制限です。",
  "clock.players.mine": "あなたの持ち時間（分）",
  "clock.players.mineAdd": "あなたの1手ごとの加算（秒）",
  "clock.players.theirs": "相手の持ち時間（分）",
  "clock.players.theirsAdd": "相手の1手ごとの加算（秒）",
  "clock.sides.mine": "黒の持ち時間（分）",
  "clock.sides.mineAdd": "黒の1手ごとの加算（秒）",
  "clock.sides.theirs": "白の持ち時間（分）",
  "clock.sides.theirsAdd": "白の1手ごとの加算（秒）",

  // Limits and pictures.
  "limit.title": "読みの量",
  "limit.own": "プレイヤーの設定どおり",
  "limit.seconds": "1局面{count}秒",
  "limit.minutes": "1局面{count}分",
  "limit.simulations": "シミュレーション{count}回（ネット）",
  "save.values": "評価値入りの画像を保存（PNG）",
};
