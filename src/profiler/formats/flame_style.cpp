#include "profiler/formats/flame_page.h"

namespace sp::profiler {

std::string_view flame_style() {
  return R"css(svg{font-family:system-ui,"Segoe UI","Helvetica Neue","DejaVu Sans",Arial,sans-serif}
:root{background:#fffdf9}
#background,#top-back,#bottom-back{fill:#fffdf9}
#title{font-size:16px;font-weight:600;fill:#1d1b18}
#subtitle,#legend,#matched,#empty{font-size:12px;fill:#6b645a}
#details{font-size:12.5px;fill:#1d1b18}
#details,#frames,#probe{font-family:"DejaVu Sans Mono",Menlo,Consolas,"Liberation Mono",monospace}
#details .number{font-weight:700}
#details .place{fill:#6b645a}
#bottom-line,#top-line{stroke:#e7dfd2}
#legend .swatch{font-size:15px}
#frames{font-size:12px}
#frames text,#probe{fill:#201a12;pointer-events:none;white-space:pre}
#frames rect{rx:2px}
#frames g{cursor:pointer}
#frames g:hover rect{stroke:#1d1b18;stroke-width:1px}
#frames:focus,#frames g:focus{outline:none}
#frames g:focus-visible rect,#frames g.focused rect{stroke:#1450c8;stroke-width:2.5px}
#frames g.below rect{fill-opacity:.5}
#frames g.off{display:none}
#frames g.match rect{fill:#c77dff}
.button{cursor:pointer}
.button rect{fill:#f3ece0;stroke:#d9cfbf}
.button text{font-size:12px;fill:#1d1b18;text-anchor:middle}
.button:hover rect{fill:#eadfcd}
.button:focus{outline:none}
.button:focus-visible rect{stroke:#1450c8;stroke-width:2px}
.off{display:none}
#search{box-sizing:border-box;width:100%;height:100%;margin:0;padding:0 8px;font:12px/1 system-ui,"DejaVu Sans",Arial,sans-serif;color:#1d1b18;background:#fff;border:1px solid #cfc4b2;border-radius:5px;outline:none}
#search:focus{border-color:#1450c8;box-shadow:inset 0 0 0 1px #1450c8}
#search.wrong{border-color:#c0392b;box-shadow:inset 0 0 0 1px #c0392b}
)css";
}

std::string_view flame_dark_style() {
  return R"css(:root{background:#17181c}
#background,#top-back,#bottom-back{fill:#17181c}
#title,#details{fill:#ece9e4}
#subtitle,#legend,#matched,#empty,#details .place{fill:#a09a90}
#bottom-line,#top-line{stroke:#33353c}
#frames text{fill:#15120d}
#frames g.below text{fill:#ece9e4}
#frames g:hover rect{stroke:#fff}
#frames g:focus-visible rect,#frames g.focused rect{stroke:#8ab4ff}
#frames g.match rect{fill:#b86bf5}
.button rect{fill:#26282e;stroke:#3d4048}
.button:hover rect{fill:#33363e}
.button text{fill:#ece9e4}
.button:focus-visible rect{stroke:#8ab4ff}
#search{color:#ece9e4;background:#202228;border-color:#3d4048}
#search:focus{border-color:#8ab4ff;box-shadow:inset 0 0 0 1px #8ab4ff}
)css";
}

}  // namespace sp::profiler
